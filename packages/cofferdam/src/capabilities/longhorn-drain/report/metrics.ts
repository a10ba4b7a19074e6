import { Counter, Gauge, type Registry } from 'prom-client'

/** All of Longhorn as of the last reconcile. */
export interface LonghornFigures {
  /** Nodes that are cordoned or drained. */
  readonly nodes: readonly { readonly node: string; readonly isHeld: boolean; readonly bytesLeft: number }[]
  readonly problems: number
}

/** What becomes of Longhorn's nodes, replicas and budgets. */
export function createLonghornMetrics(registry: Registry) {
  const registers = [registry]
  const held = new Gauge({
    name: 'cofferdam_longhorn_node_held',
    help: '1 while something of Longhorn holds a node that is cordoned or drained, 0 once it may go.',
    labelNames: ['longhorn_node'] as const,
    registers,
  })
  const bytesLeft = new Gauge({
    name: 'cofferdam_longhorn_remaining_bytes',
    help: 'Bytes that have to be copied before the replicas that leave a node have gone.',
    labelNames: ['longhorn_node'] as const,
    registers,
  })
  const problems = new Gauge({
    name: 'cofferdam_longhorn_problems',
    help: 'Objects and settings of Longhorn that cannot be used as they are.',
    registers,
  })
  const budgets = new Counter({
    name: 'cofferdam_longhorn_budgets_total',
    help: 'Budgets over pods of Longhorn that were written, by verb.',
    labelNames: ['verb'] as const,
    registers,
  })

  const reverted = new Counter({
    name: 'cofferdam_longhorn_reverted_total',
    help: 'Writes of Cofferdam that another client undid, by what was written: poddisruptionbudget or disk.',
    labelNames: ['object'] as const,
    registers,
  })

  return {
    /** Nodes that are not among them any more lose their figures. */
    show(figures: LonghornFigures) {
      held.reset()
      bytesLeft.reset()
      for (const { node, isHeld, bytesLeft: left } of figures.nodes) {
        held.set({ longhorn_node: node }, isHeld ? 1 : 0)
        bytesLeft.set({ longhorn_node: node }, left)
      }
      problems.set(figures.problems)
    },
    countReverted: (object: string) => reverted.inc({ object }),
    countBudget: (verb: string) => budgets.inc({ verb }),
  }
}
