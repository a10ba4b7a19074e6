import { decideOrphans, type KeyFacts } from '../domain/orphans.ts'
import { explainHolds, type HoldAnswer, type HoldView } from './hold-view.ts'

/**
 * Everything that is held now, the most worrying first. Of what a vanished holder left it is said what it still waits for;
 * `facts` is what is behind those keys.
 */
export function summarizeLocks(view: HoldView, facts: ReadonlyMap<string, KeyFacts>): readonly HoldAnswer[] {
  const awaited = orphanWords(view, facts)
  return explainHolds(view, () => true)
    .filter(({ state }) => state !== 'Waiting')
    .map((answer) => {
      const says = answer.state === 'Orphaned' ? awaited.get(answer.key) : undefined
      return says === undefined ? answer : { ...answer, says }
    })
    .sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state))
}

const order: readonly HoldAnswer['state'][] = ['Orphaned', 'Ignored', 'AppLock', 'Acting', 'Granted', 'Waiting']

/** As the keeper of the ledger judges them. It alone has watched the others for heartbeats. */
function orphanWords({ ledger }: HoldView, facts: ReadonlyMap<string, KeyFacts>): ReadonlyMap<string, string> {
  if (!ledger.known) return new Map()
  const decisions = decideOrphans({
    ledger: ledger.value,
    living: new Set(),
    vanished: new Set(),
    heartbeats: new Map(),
    renewMs: Number.POSITIVE_INFINITY,
    facts,
  })
  return new Map(decisions.flatMap(({ keys, explanation }) => keys.map((key) => [key, explanation] as const)))
}
