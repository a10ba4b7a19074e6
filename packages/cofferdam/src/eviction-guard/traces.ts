import { validatingWebhookConfigurations } from '@cofferdam/kubernetes/api/admission-registration.ts'
import { namespaces, nodes, secrets } from '@cofferdam/kubernetes/api/resources.ts'
import { evictionAttemptedAnnotation } from '../capabilities/drain-detection/domain/attempt.ts'
import { type Trace, trace, withoutKeys } from '../shared/trace.ts'
import { guardSecret } from './domain/guard-secret.ts'
import { lockedLabel } from './domain/namespace-labels.ts'
import { guardConfigurationName } from './domain/webhook-configuration.ts'

export const evictionGuardTraces: readonly Trace[] = [
  trace({
    type: validatingWebhookConfigurations,
    place: { name: guardConfigurationName },
    keys: [],
    removal: () => ({ verb: 'delete', says: 'the eviction guard' }),
  }),
  trace({
    type: namespaces,
    keys: [lockedLabel],
    removal: (namespace) => withoutKeys(namespace, { labels: [lockedLabel] }),
  }),
  trace({
    type: nodes,
    keys: [evictionAttemptedAnnotation],
    removal: (node) => withoutKeys(node, { annotations: [evictionAttemptedAnnotation] }),
  }),
  trace({
    type: secrets,
    place: guardSecret,
    keys: [],
    removal: () => ({ verb: 'delete', says: 'certificates of the eviction guard' }),
  }),
]
