import type { StatefulSet } from '@cofferdam/kubernetes/api/apps.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { ResourceStrategy } from '../resource-definition.ts'
import type { FieldError } from '../schema/field-error.ts'
import { intOrPercentErrors, invalidErrors, nonNegativeErrors } from './field-rules.ts'
import { labelErrors } from './name-rules.ts'
import { completeTemplate } from './pod-template.ts'
import { withDefaults, withItems } from './with-defaults.ts'
import { ownSelectorErrors, templateErrors } from './workload-rules.ts'

interface Claim {
  readonly metadata?: { readonly name?: string }
  readonly spec?: object
}

type Spec = StatefulSet['spec'] & {
  readonly revisionHistoryLimit?: number
  readonly volumeClaimTemplates?: readonly Claim[]
}

const specDefaults = {
  replicas: 1,
  podManagementPolicy: 'OrderedReady',
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
  revisionHistoryLimit: 10,
  persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
}

const claimDefaults = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', status: { phase: 'Pending' } }

export const statefulSetStrategy: ResourceStrategy = {
  prepare(next: StatefulSet, previous: StatefulSet | undefined) {
    if (next.spec === undefined || next.spec === previous?.spec) return next
    const spec: Spec = withDefaults(next.spec, specDefaults)
    const template = completeTemplate(spec.template) as Spec['template']
    const updateStrategy = completeStrategy(spec.updateStrategy)
    const claims = spec.volumeClaimTemplates && withItems(spec.volumeClaimTemplates, completeClaim)
    if (
      spec === next.spec &&
      template === spec.template &&
      updateStrategy === spec.updateStrategy &&
      claims === spec.volumeClaimTemplates
    ) {
      return next
    }
    const completed = {
      ...spec,
      template,
      updateStrategy,
      ...(claims === undefined ? {} : { volumeClaimTemplates: claims }),
    }
    return { ...next, spec: completed }
  },

  validate(next: StatefulSet, previous: StatefulSet | undefined) {
    const spec: Spec = next.spec ?? ({} as Spec)
    if (spec === previous?.spec) return []
    const claims = (spec.volumeClaimTemplates ?? []).flatMap(({ metadata }) => metadata?.name ?? [])
    const errors: FieldError[] = [
      ...policyErrors(spec),
      ...nonNegativeErrors(spec.replicas, 'spec.replicas'),
      ...nonNegativeErrors(spec.minReadySeconds, 'spec.minReadySeconds'),
      ...nonNegativeErrors(spec.revisionHistoryLimit, 'spec.revisionHistoryLimit'),
      ...ownSelectorErrors(spec.selector, 'statefulset'),
      ...templateErrors(spec.template, {
        selector: spec.selector,
        owner: 'StatefulSet',
        runsForever: true,
        extraVolumes: claims,
      }),
    ]
    if (previous === undefined) {
      if (spec.serviceName)
        errors.push(...invalidErrors(labelErrors(spec.serviceName), spec.serviceName, 'spec.serviceName'))
      errors.push(...invalidErrors(labelErrors(next.metadata.name), next.metadata.name, 'metadata.name'))
    } else if (!isSameJson(fixedPart(spec), fixedPart(previous.spec))) {
      const detail =
        "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
      errors.push({ kind: 'Forbidden', field: 'spec', detail })
    }
    return errors
  },
}

function completeStrategy(strategy: Spec['updateStrategy']): NonNullable<Spec['updateStrategy']> {
  const next = withDefaults(strategy ?? {}, { type: 'RollingUpdate' })
  if (next.type !== 'RollingUpdate') return next
  const rollingUpdate = withDefaults(next.rollingUpdate ?? {}, { partition: 0 })
  return rollingUpdate === next.rollingUpdate ? next : { ...next, rollingUpdate }
}

function completeClaim(claim: Claim): Claim {
  const next = withDefaults(claim, claimDefaults)
  const spec = withDefaults(next.spec ?? {}, { volumeMode: 'Filesystem' })
  return spec === next.spec ? next : { ...next, spec }
}

function policyErrors(spec: Spec): FieldError[] {
  const errors: FieldError[] = []
  const { podManagementPolicy: policy, updateStrategy } = spec
  if (policy !== undefined && policy !== 'OrderedReady' && policy !== 'Parallel') {
    const detail = "must be 'OrderedReady' or 'Parallel'"
    errors.push({ kind: 'Invalid', field: 'spec.podManagementPolicy', value: policy, detail })
  }
  const type = updateStrategy?.type
  const field = 'spec.updateStrategy'
  if (type === 'OnDelete' && updateStrategy?.rollingUpdate !== undefined) {
    const detail = "only allowed for updateStrategy 'RollingUpdate'"
    errors.push({ kind: 'Invalid', field: `${field}.rollingUpdate`, value: updateStrategy.rollingUpdate, detail })
  } else if (type !== undefined && type !== 'OnDelete' && type !== 'RollingUpdate') {
    const detail = "must be 'RollingUpdate' or 'OnDelete'"
    errors.push({ kind: 'Invalid', field, value: updateStrategy, detail })
  }
  errors.push(...nonNegativeErrors(updateStrategy?.rollingUpdate?.partition, `${field}.rollingUpdate.partition`))
  errors.push(
    ...intOrPercentErrors(updateStrategy?.rollingUpdate?.maxUnavailable, `${field}.rollingUpdate.maxUnavailable`),
  )
  return errors
}

const changeable = new Set([
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
])

function fixedPart(spec: Spec): object {
  return Object.fromEntries(Object.entries(spec).filter(([field]) => !changeable.has(field)))
}
