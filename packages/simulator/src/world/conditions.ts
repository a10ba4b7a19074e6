import type { Condition } from '@cofferdam/kubernetes/api/kube-object.ts'

/**
 * The conditions with this one in its place. The same list comes back when nothing is new; the transition time moves
 * only with the status.
 */
export function withCondition<C extends Condition>(
  conditions: readonly C[] | undefined,
  next: C & { readonly lastTransitionTime: string },
): readonly C[] {
  const held = conditions?.find(({ type }) => type === next.type)
  if (held === undefined) return [...(conditions ?? []), next]
  if (isSameState(held, next)) return conditions as readonly C[]
  const entered = held.status === next.status ? held.lastTransitionTime : undefined
  const replaced = entered === undefined ? next : { ...next, lastTransitionTime: entered }
  return (conditions as readonly C[]).map((condition) => (condition.type === next.type ? replaced : condition))
}

function isSameState(a: Condition, b: Condition): boolean {
  return (
    a.status === b.status &&
    (a.reason ?? '') === (b.reason ?? '') &&
    (a.message ?? '') === (b.message ?? '') &&
    a.observedGeneration === b.observedGeneration
  )
}
