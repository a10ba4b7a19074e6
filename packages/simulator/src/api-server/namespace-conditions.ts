import type { Condition } from '@cofferdam/kubernetes/api/kube-object.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'

/** What a round of deletions left behind in a namespace. */
export interface NamespaceContent {
  /** How many objects of `plural.group` are still there. */
  readonly remaining: Map<string, number>
  /** How many of them each finalizer holds. */
  readonly finalizers: Map<string, number>
  readonly failures: string[]
}

type Finding = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>

/** The conditions of a terminating namespace, in the words of the real server; the same array when nothing changed. */
export function namespaceConditions(
  previous: readonly Condition[],
  content: NamespaceContent,
  clock: Clock,
): readonly Condition[] {
  const next: Condition[] = [...previous]
  let isChanged = false
  for (const finding of findings(content)) {
    const at = next.findIndex(({ type }) => type === finding.type)
    const old = next[at]
    if (old?.status === finding.status && old?.reason === finding.reason && old?.message === finding.message) continue
    const since = old?.status === finding.status ? old.lastTransitionTime : undefined
    const condition: Condition = { ...finding, lastTransitionTime: since ?? timestamp(clock) }
    if (old === undefined) next.push(condition)
    else next[at] = condition
    isChanged = true
  }
  return isChanged ? next : previous
}

function findings({ remaining, finalizers, failures }: NamespaceContent): readonly Finding[] {
  return [
    good('NamespaceDeletionDiscoveryFailure', 'ResourcesDiscovered', 'All resources successfully discovered'),
    good(
      'NamespaceDeletionGroupVersionParsingFailure',
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ),
    failures.length === 0
      ? good(
          'NamespaceDeletionContentFailure',
          'ContentDeleted',
          'All content successfully deleted, may be waiting on finalization',
        )
      : bad(
          'NamespaceDeletionContentFailure',
          'ContentDeletionFailed',
          `Failed to delete all resource types, ${failures.length} remaining: ${failures.toSorted().join(', ')}`,
        ),
    remaining.size === 0
      ? good('NamespaceContentRemaining', 'ContentRemoved', 'All content successfully removed')
      : bad(
          'NamespaceContentRemaining',
          'SomeResourcesRemain',
          `Some resources are remaining: ${counted(remaining, (name, count) => `${name} has ${count} resource instances`)}`,
        ),
    finalizers.size === 0
      ? good('NamespaceFinalizersRemaining', 'ContentHasNoFinalizers', 'All content-preserving finalizers finished')
      : bad(
          'NamespaceFinalizersRemaining',
          'SomeFinalizersRemain',
          `Some content in the namespace has finalizers remaining: ${counted(finalizers, (name, count) => `${name} in ${count} resource instances`)}`,
        ),
  ]
}

function counted(counts: ReadonlyMap<string, number>, text: (name: string, count: number) => string): string {
  return [...counts]
    .map(([name, count]) => text(name, count))
    .toSorted()
    .join(', ')
}

function good(type: string, reason: string, message: string): Finding {
  return { type, status: 'False', reason, message }
}

function bad(type: string, reason: string, message: string): Finding {
  return { type, status: 'True', reason, message }
}
