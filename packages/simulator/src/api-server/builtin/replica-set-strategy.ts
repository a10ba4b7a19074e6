import type { ReplicaSet } from '@cofferdam/kubernetes/api/apps.ts'
import type { PodTemplateSpec } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { Labels } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { ResourceStrategy } from '../resource-definition.ts'
import { immutableErrors, nonNegativeErrors, requiredError } from './field-rules.ts'
import { completeTemplate } from './pod-template.ts'
import { withDefaults, withField } from './with-defaults.ts'
import { countErrors, ownSelectorErrors, templateErrors } from './workload-rules.ts'

type Spec = ReplicaSet['spec']

export const replicaSetStrategy: ResourceStrategy = {
  prepare(next: ReplicaSet, previous: ReplicaSet | undefined) {
    if (next.spec === undefined || next.spec === previous?.spec) return next
    const spec = withDefaults(next.spec, { replicas: 1 })
    const template = completeTemplate(spec.template)
    return withField(next, 'spec', template === undefined ? spec : withField(spec, 'template', template))
  },

  validateStatus: ({ status }: ReplicaSet) => countErrors(status, 'fullyLabeledReplicas'),

  validate(next: ReplicaSet, previous: ReplicaSet | undefined) {
    const spec: Spec = next.spec ?? ({} as Spec)
    if (spec === previous?.spec) return []
    return [
      ...nonNegativeErrors(spec.replicas, 'spec.replicas'),
      ...nonNegativeErrors(spec.minReadySeconds, 'spec.minReadySeconds'),
      ...ownSelectorErrors(spec.selector, 'deployment'),
      ...templateErrors(spec.template, { selector: spec.selector, owner: 'ReplicaSet', runsForever: true }),
      ...(previous === undefined ? [] : immutableErrors(spec.selector, previous.spec.selector, 'spec.selector')),
    ]
  },
}

interface ReplicationController extends KubeObject {
  readonly spec: { readonly replicas?: number; readonly selector?: Labels; readonly template?: PodTemplateSpec }
}

/** The forerunner of the ReplicaSet: its selector is a plain map and follows the template's labels. */
export const replicationControllerStrategy: ResourceStrategy = {
  prepare(next: ReplicationController, previous: ReplicationController | undefined) {
    if (next.spec === undefined || next.spec === previous?.spec) return next
    const template = completeTemplate(next.spec.template)
    const labels = template?.metadata?.labels
    const spec = withDefaults(template === undefined ? next.spec : withField(next.spec, 'template', template), {
      replicas: 1,
      ...(labels === undefined ? {} : { selector: labels }),
    })
    return withField(next, 'spec', spec)
  },

  validate(next: ReplicationController, previous: ReplicationController | undefined) {
    const spec = next.spec ?? {}
    if (spec === previous?.spec) return []
    return [
      ...nonNegativeErrors(spec.replicas, 'spec.replicas'),
      ...(Object.keys(spec.selector ?? {}).length === 0 ? [requiredError('spec.selector')] : []),
      ...templateErrors(spec.template, {
        selector: { matchLabels: spec.selector ?? {} },
        owner: 'ReplicationController',
        runsForever: true,
      }),
    ]
  },
}
