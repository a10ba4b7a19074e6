import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { IntOrString } from '@cofferdam/kubernetes/api/int-or-string.ts'
import type { ResourceStrategy } from '../resource-definition.ts'
import type { FieldError } from '../schema/field-error.ts'
import { atMostAllErrors, choiceErrors, immutableErrors, intOrPercentErrors, nonNegativeErrors } from './field-rules.ts'
import { completeTemplate } from './pod-template.ts'
import { withDefaults } from './with-defaults.ts'
import { countErrors, ownSelectorErrors, templateErrors } from './workload-rules.ts'

const quarterAtATime = { maxUnavailable: '25%', maxSurge: '25%' }

const specDefaults = {
  replicas: 1,
  strategy: { type: 'RollingUpdate', rollingUpdate: quarterAtATime },
  revisionHistoryLimit: 10,
  progressDeadlineSeconds: 600,
}

type Spec = Deployment['spec']

export const deploymentStrategy: ResourceStrategy = {
  prepare(next: Deployment, previous: Deployment | undefined) {
    if (next.spec === undefined || next.spec === previous?.spec) return next
    const spec = withDefaults(next.spec, specDefaults)
    const template = completeTemplate(spec.template) as Spec['template']
    const strategy = completeStrategy(spec.strategy)
    if (spec === next.spec && template === spec.template && strategy === spec.strategy) return next
    return { ...next, spec: { ...spec, template, strategy } }
  },

  validateStatus: ({ status }: Deployment) => countErrors(status, 'updatedReplicas'),

  validate(next: Deployment, previous: Deployment | undefined) {
    const spec: Spec = next.spec ?? ({} as Spec)
    if (spec === previous?.spec) return []
    const errors: FieldError[] = [
      ...nonNegativeErrors(spec.replicas, 'spec.replicas'),
      ...ownSelectorErrors(spec.selector, 'deployment'),
      ...templateErrors(spec.template, { selector: spec.selector, owner: 'ReplicaSet', runsForever: true }),
      ...strategyErrors(spec.strategy),
      ...nonNegativeErrors(spec.minReadySeconds, 'spec.minReadySeconds'),
      ...nonNegativeErrors(spec.revisionHistoryLimit, 'spec.revisionHistoryLimit'),
      ...nonNegativeErrors(spec.progressDeadlineSeconds, 'spec.progressDeadlineSeconds'),
    ]
    if (spec.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds <= (spec.minReadySeconds ?? 0)) {
      errors.push({
        kind: 'Invalid',
        field: 'spec.progressDeadlineSeconds',
        value: spec.progressDeadlineSeconds,
        detail: 'must be greater than minReadySeconds',
      })
    }
    if (previous !== undefined) errors.push(...immutableErrors(spec.selector, previous.spec.selector, 'spec.selector'))
    return errors
  },
}

function completeStrategy(strategy: Spec['strategy']): NonNullable<Spec['strategy']> {
  const next = withDefaults(strategy ?? {}, { type: 'RollingUpdate' })
  if (next.type !== 'RollingUpdate') return next
  const rollingUpdate = withDefaults(next.rollingUpdate ?? {}, quarterAtATime)
  return rollingUpdate === next.rollingUpdate ? next : { ...next, rollingUpdate }
}

function strategyErrors(strategy: Spec['strategy']): FieldError[] {
  if (strategy === undefined) return []
  const field = 'spec.strategy'
  if (strategy.type === 'Recreate' && strategy.rollingUpdate !== undefined) {
    const detail = "may not be specified when strategy `type` is 'Recreate'"
    return [{ kind: 'Forbidden', field: `${field}.rollingUpdate`, detail }]
  }
  const { maxSurge, maxUnavailable } = strategy.rollingUpdate ?? {}
  const errors = [
    ...choiceErrors(strategy.type, ['Recreate', 'RollingUpdate'], field),
    ...intOrPercentErrors(maxUnavailable, `${field}.rollingUpdate.maxUnavailable`),
    ...intOrPercentErrors(maxSurge, `${field}.rollingUpdate.maxSurge`),
    ...atMostAllErrors(maxUnavailable, `${field}.rollingUpdate.maxUnavailable`),
  ]
  if (isNone(maxSurge) && isNone(maxUnavailable)) {
    errors.push({
      kind: 'Invalid',
      field: `${field}.rollingUpdate.maxUnavailable`,
      value: maxUnavailable,
      detail: 'may not be 0 when `maxSurge` is 0',
    })
  }
  return errors
}

function isNone(value: IntOrString | undefined): boolean {
  return value === 0 || (typeof value === 'string' && Number.parseInt(value, 10) === 0)
}
