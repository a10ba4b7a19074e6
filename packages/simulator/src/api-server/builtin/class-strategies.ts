import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceStrategy } from '../resource-definition.ts'
import type { FieldError } from '../schema/field-error.ts'
import { choiceErrors, immutableErrors, requiredError } from './field-rules.ts'
import { withDefaults, withPhase } from './with-defaults.ts'

export interface PriorityClass extends KubeObject {
  readonly value?: number
  readonly globalDefault?: boolean
  readonly preemptionPolicy?: string
}

const highestUserPriority = 1_000_000_000

export const priorityClassStrategy: ResourceStrategy = {
  prepare: (next: PriorityClass) => withDefaults(next, { value: 0, preemptionPolicy: 'PreemptLowerPriority' }),

  validate(next: PriorityClass, previous: PriorityClass | undefined) {
    const errors: FieldError[] = []
    const { name } = next.metadata
    if ((next.value ?? 0) > highestUserPriority && !name.startsWith('system-')) {
      const detail = `maximum allowed value of a user defined priority is ${highestUserPriority}`
      errors.push({ kind: 'Forbidden', field: 'value', detail })
    }
    errors.push(...choiceErrors(next.preemptionPolicy, ['Never', 'PreemptLowerPriority'], 'preemptionPolicy'))
    if (previous === undefined) return errors
    if (next.value !== previous.value) {
      errors.push({ kind: 'Forbidden', field: 'value', detail: 'may not be changed in an update.' })
    }
    return [...errors, ...immutableErrors(next.preemptionPolicy, previous.preemptionPolicy, 'preemptionPolicy')]
  },
}

interface StorageClass extends KubeObject {
  readonly provisioner?: string
  readonly parameters?: Readonly<Record<string, string>>
  readonly reclaimPolicy?: string
  readonly volumeBindingMode?: string
}

export const storageClassStrategy: ResourceStrategy = {
  prepare: (next: StorageClass) => withDefaults(next, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }),

  validate(next: StorageClass, previous: StorageClass | undefined) {
    const errors = [
      ...choiceErrors(next.reclaimPolicy, ['Delete', 'Retain'], 'reclaimPolicy'),
      ...choiceErrors(next.volumeBindingMode, ['Immediate', 'WaitForFirstConsumer'], 'volumeBindingMode'),
    ]
    if (previous === undefined) return errors
    for (const field of ['parameters', 'provisioner'] as const) {
      if (JSON.stringify(next[field]) !== JSON.stringify(previous[field])) {
        errors.push({ kind: 'Forbidden', field, detail: 'updates to parameters are forbidden.' })
      }
    }
    return [...errors, ...immutableErrors(next.volumeBindingMode, previous.volumeBindingMode, 'volumeBindingMode')]
  },
}

interface Claim extends KubeObject {
  readonly spec?: {
    readonly accessModes?: readonly string[]
    readonly resources?: { readonly requests?: Readonly<Record<string, string>> }
    readonly volumeName?: string
  }
  readonly status?: object
}

export const persistentVolumeClaimStrategy: ResourceStrategy = {
  prepare(next: Claim) {
    const spec = withDefaults(next.spec ?? {}, { volumeMode: 'Filesystem' })
    const prepared = spec === next.spec ? next : { ...next, spec }
    return withPhase(prepared, 'Pending')
  },

  validate(next: Claim, previous: Claim | undefined) {
    const { spec } = next
    if (spec === previous?.spec && previous !== undefined) return []
    const errors: FieldError[] = []
    if ((spec?.accessModes ?? []).length === 0) {
      errors.push(requiredError('spec.accessModes', 'at least 1 access mode is required'))
    }
    if (spec?.resources?.requests?.['storage'] === undefined) errors.push(requiredError('spec.resources[storage]'))
    return errors
  },
}
