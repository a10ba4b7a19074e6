import type { Toleration } from '@cofferdam/kubernetes/api/core.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { FieldError } from '../schema/field-error.ts'
import type { FullContainer, FullPodSpec } from './pod-template.ts'

const changeable = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',')

/** A pod that exists keeps its spec, but for a few fields. */
export function podUpdateErrors(next: FullPodSpec, previous: FullPodSpec): FieldError[] {
  const errors: FieldError[] = []
  for (const field of ['containers', 'initContainers'] as const) {
    if ((next[field] ?? []).length !== (previous[field] ?? []).length) {
      return [{ kind: 'Forbidden', field: `spec.${field}`, detail: 'pod updates may not add or remove containers' }]
    }
  }
  errors.push(...deadlineErrors(next.activeDeadlineSeconds, previous.activeDeadlineSeconds))
  if (!onlyAdds(next.tolerations ?? [], previous.tolerations ?? [])) {
    const detail = 'existing toleration can not be modified except its tolerationSeconds'
    errors.push({ kind: 'Forbidden', field: 'spec.tolerations', detail })
  }
  const gatesBefore = new Set((previous.schedulingGates ?? []).map(({ name }) => name))
  const added = (next.schedulingGates ?? []).filter(({ name }) => !gatesBefore.has(name))
  if (added.length > 0) {
    const detail = `only deletion is allowed, but found new scheduling gates ${added.map(({ name }) => `'${name}'`).join(', ')}`
    errors.push({ kind: 'Forbidden', field: 'spec.schedulingGates', detail })
  }
  const changed = changedFields(next, previous)
  if (changed.length > 0) {
    const detail = `pod updates may not change fields other than ${changeable}\nchanged: ${changed.join(', ')}`
    errors.push({ kind: 'Forbidden', field: 'spec', detail })
  }
  return errors
}

function deadlineErrors(next: number | undefined, previous: number | undefined): FieldError[] {
  const field = 'spec.activeDeadlineSeconds'
  if (next === undefined) {
    if (previous === undefined) return []
    const detail = 'must not update from a positive integer to nil value'
    return [{ kind: 'Invalid', field, value: null, detail }]
  }
  if (next < 0 || next > 2 ** 31 - 1) {
    return [{ kind: 'Invalid', field, value: next, detail: 'must be between 0 and 2147483647, inclusive' }]
  }
  if (previous !== undefined && next > previous) {
    return [{ kind: 'Invalid', field, value: next, detail: 'must be less than or equal to previous value' }]
  }
  return []
}

function onlyAdds(next: readonly Toleration[], previous: readonly Toleration[]): boolean {
  const isKept = (old: Toleration) =>
    next.some(({ tolerationSeconds, ...kept }) =>
      isSameJson({ ...kept, tolerationSeconds }, { ...old, tolerationSeconds }),
    )
  return previous.every(isKept)
}

const free = new Set(['activeDeadlineSeconds', 'tolerations', 'schedulingGates', 'containers', 'initContainers'])

function changedFields(next: FullPodSpec, previous: FullPodSpec): string[] {
  const after = next as unknown as Readonly<Record<string, unknown>>
  const before = previous as unknown as Readonly<Record<string, unknown>>
  const changed: string[] = []
  for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (free.has(field) || isSameJson(after[field], before[field])) continue
    if (field === 'terminationGracePeriodSeconds' && (before[field] as number) < 0 && after[field] === 1) continue
    if (field === 'nodeSelector' && gatedAddition(next, previous)) continue
    changed.push(field)
  }
  for (const field of ['containers', 'initContainers'] as const) {
    for (const [index, container] of (next[field] ?? []).entries()) {
      const old = previous[field]?.[index] as FullContainer
      if (!isSameJson({ ...container, image: old.image }, old)) changed.push(`${field}[${index}]`)
    }
  }
  return changed
}

/** A pod that waits at a scheduling gate may get a more precise placement. */
function gatedAddition(next: FullPodSpec, previous: FullPodSpec): boolean {
  if ((previous.schedulingGates ?? []).length === 0) return false
  return Object.entries(previous.nodeSelector ?? {}).every(([key, value]) => next.nodeSelector?.[key] === value)
}
