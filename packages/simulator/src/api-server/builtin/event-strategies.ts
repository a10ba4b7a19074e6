import type { Event, ObjectReference } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceStrategy } from '../resource-definition.ts'
import type { FieldError } from '../schema/field-error.ts'
import { requiredError } from './field-rules.ts'

export const eventStrategy: ResourceStrategy = {
  validate(next: Event) {
    const errors: FieldError[] = []
    const { involvedObject, eventTime } = next
    const isNew = eventTime !== undefined && eventTime !== null
    if (!isAtHome(next.metadata.namespace, involvedObject?.namespace, isNew))
      errors.push(elsewhere('involvedObject', involvedObject))
    if (isNew) {
      for (const field of ['reportingComponent', 'reportingInstance', 'action', 'reason'] as const) {
        if (!next[field]) errors.push(requiredError(field))
      }
    }
    return errors
  },
}

interface NewEvent extends KubeObject {
  readonly regarding?: ObjectReference
  readonly eventTime?: string
  readonly type?: string
  readonly reason?: string
  readonly action?: string
  readonly reportingController?: string
  readonly reportingInstance?: string
}

/** Events of `events.k8s.io` are held to all their rules; those of the core group are let through as they always were. */
export const newEventStrategy: ResourceStrategy = {
  validate(next: NewEvent) {
    const errors: FieldError[] = []
    if (next.eventTime === undefined) errors.push(requiredError('eventTime'))
    if (!isAtHome(next.metadata.namespace, next.regarding?.namespace, true))
      errors.push(elsewhere('regarding', next.regarding))
    for (const field of ['reportingController', 'reportingInstance', 'action', 'reason'] as const) {
      if (!next[field]) errors.push(requiredError(field))
    }
    if (next.type !== 'Normal' && next.type !== 'Warning') {
      errors.push({ kind: 'Invalid', field: 'type', value: '', detail: `has invalid value: ${next.type ?? ''}` })
    }
    return errors
  },
}

/** Events about things without a namespace live in `default` (or, the new ones, in `kube-system`). */
function isAtHome(namespace: string | undefined, about: string | undefined, isNew: boolean): boolean {
  if (about === undefined || about === '') return namespace === 'default' || (isNew && namespace === 'kube-system')
  return isNew || namespace === about
}

function elsewhere(field: string, reference: ObjectReference | undefined): FieldError {
  const detail = 'does not match event.namespace'
  return { kind: 'Invalid', field: `${field}.namespace`, value: reference?.namespace ?? '', detail }
}
