import { parseBudgetKey } from '../../ledger/rules/keys.ts'
import type { Ledger } from '../../ledger/rules/ledger.ts'
import type { Observed } from '../../shared/observed.ts'

/** On a Namespace that holds an active lock: evictions there need the guard's word. */
export const lockedLabel = 'cofferdam.io/locked'

export interface NamespaceLabelSnapshot {
  readonly nowMs: number
  readonly namespaces: readonly NamespaceView[]
  readonly ledger: Observed<Ledger>
  /** Where the guard itself runs: never labelled, its own pods must be able to go. */
  readonly ownNamespace: string
}

export interface NamespaceView {
  readonly name: string
  /** What the label says now; undefined when there is none. */
  readonly label: string | undefined
  /** Until when each lock of an application's owner that is in force there lasts. */
  readonly appLocksUntilMs: readonly number[]
}

export interface NamespaceLabelDecision {
  readonly set: readonly string[]
  readonly remove: readonly string[]
  /** When the next lock ends by itself. */
  readonly recheckAfterMs: number | undefined
}

/**
 * Decides which namespaces hold an active lock: one of an application's owner, or a budget that the ledger has somebody hold.
 *
 * Fails closed: while the ledger cannot be read, no label is taken away.
 */
export function decideNamespaceLabels(seen: NamespaceLabelSnapshot): NamespaceLabelDecision {
  const { nowMs, namespaces, ledger, ownNamespace } = seen
  const held = ledger.known
    ? new Set(ledger.value.entries.flatMap(({ key }) => parseBudgetKey(key)?.namespace ?? []))
    : undefined
  const ends = namespaces.flatMap(({ appLocksUntilMs }) => appLocksUntilMs.filter((until) => until > nowMs))
  const isLocked = ({ name, appLocksUntilMs }: NamespaceView) =>
    name !== ownNamespace && (held?.has(name) === true || appLocksUntilMs.some((until) => until > nowMs))
  return {
    set: namesOf(namespaces.filter((each) => isLocked(each) && each.label !== 'true')),
    remove: namesOf(
      namespaces.filter(
        (each) => each.label !== undefined && !isLocked(each) && (held !== undefined || each.name === ownNamespace),
      ),
    ),
    recheckAfterMs: ends.length === 0 ? undefined : Math.min(...ends) - nowMs,
  }
}

function namesOf(namespaces: readonly NamespaceView[]): string[] {
  return namespaces.map(({ name }) => name)
}
