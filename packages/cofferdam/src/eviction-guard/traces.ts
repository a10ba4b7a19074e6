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
    keys: [],
    removal: ({ metadata }) =>
      metadata.name === guardConfigurationName ? { verb: 'delete', says: 'the eviction guard' } : undefined,
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
    keys: [],
    removal: ({ metadata: { namespace, name } }) =>
      namespace === guardSecret.namespace && name === guardSecret.name
        ? { verb: 'delete', says: 'certificates of the eviction guard' }
        : undefined,
  }),
]
