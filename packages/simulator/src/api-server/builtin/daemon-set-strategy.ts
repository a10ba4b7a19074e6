import type { DaemonSet } from '@cofferdam/kubernetes/api/apps.ts'
import type { ResourceStrategy } from '../resource-definition.ts'
import type { FieldError } from '../schema/field-error.ts'
import { atMostAllErrors, choiceErrors, immutableErrors, intOrPercentErrors, nonNegativeErrors } from './field-rules.ts'
import { completeTemplate } from './pod-template.ts'
import { withDefaults } from './with-defaults.ts'
import { ownSelectorErrors, templateErrors } from './workload-rules.ts'

type Spec = DaemonSet['spec']

const oneAtATime = { maxUnavailable: 1, maxSurge: 0 }

export const daemonSetStrategy: ResourceStrategy = {
  prepare(next: DaemonSet, previous: DaemonSet | undefined) {
    if (next.spec === undefined || next.spec === previous?.spec) return next
    const spec = withDefaults(next.spec, { revisionHistoryLimit: 10 })
    const template = completeTemplate(spec.template) as Spec['template']
    const updateStrategy = completeStrategy(spec.updateStrategy)
    if (spec === next.spec && template === spec.template && updateStrategy === spec.updateStrategy) return next
    return { ...next, spec: { ...spec, template, updateStrategy } }
  },

  validate(next: DaemonSet, previous: DaemonSet | undefined) {
    const spec: Spec = next.spec ?? ({} as Spec)
    if (spec === previous?.spec) return []
    const errors: FieldError[] = [
      ...ownSelectorErrors(spec.selector, 'daemonset'),
      ...templateErrors(spec.template, { selector: spec.selector, owner: 'DaemonSet', runsForever: true }),
      ...nonNegativeErrors(spec.minReadySeconds, 'spec.minReadySeconds'),
      ...choiceErrors(spec.updateStrategy?.type, ['RollingUpdate', 'OnDelete'], 'spec.updateStrategy.type'),
    ]
    const { maxUnavailable, maxSurge } = spec.updateStrategy?.rollingUpdate ?? {}
    const field = 'spec.updateStrategy.rollingUpdate'
    errors.push(...intOrPercentErrors(maxUnavailable, `${field}.maxUnavailable`))
    errors.push(...intOrPercentErrors(maxSurge, `${field}.maxSurge`))
    errors.push(...atMostAllErrors(maxUnavailable, `${field}.maxUnavailable`))
    errors.push(...atMostAllErrors(maxSurge, `${field}.maxSurge`))
    if (previous !== undefined) errors.push(...immutableErrors(spec.selector, previous.spec.selector, 'spec.selector'))
    return errors
  },
}

function completeStrategy(strategy: Spec['updateStrategy']): NonNullable<Spec['updateStrategy']> {
  const next = withDefaults(strategy ?? {}, { type: 'RollingUpdate' })
  if (next.type !== 'RollingUpdate') return next
  const rollingUpdate = withDefaults(next.rollingUpdate ?? {}, oneAtATime)
  return rollingUpdate === next.rollingUpdate ? next : { ...next, rollingUpdate }
}
