import type { ReplicaBlocker } from '../../capabilities/longhorn-drain/domain/decision.ts'
import type { LonghornRule } from '../../capabilities/longhorn-drain/view/longhorn-answer.ts'
import type { LonghornView } from '../../capabilities/longhorn-drain/view/longhorn-view.ts'
import {
  type LonghornNodeSummary,
  type LonghornSummary,
  summarizeLonghorn,
} from '../../capabilities/longhorn-drain/view/summarize-longhorn.ts'

/** Longhorn, of which there is one: who decides, how its volumes are, and what is on each node. */
export interface LonghornPanelModel extends LonghornRule, Pick<LonghornSummary, 'volumes' | 'problems'> {
  readonly id: string
  readonly places: readonly LonghornPlace[]
  readonly keeps: readonly LonghornKeep[]
}

export interface LonghornPlace {
  readonly node: string
  readonly replicas: number
  /** Volumes that are attached there. */
  readonly attached: number
  /** Where the node is cordoned or drained. */
  readonly leaving?: Omit<LonghornNodeSummary, 'node'> & { readonly holders: readonly LonghornHolder[] }
}

export type LonghornHolder = Pick<ReplicaBlocker, 'object' | 'reason' | 'explanation' | 'wayOut'>

/** A budget that is there because of its node. */
export interface LonghornKeep {
  /** The id of the budget. */
  readonly budget: string
  readonly node: string
  readonly reason: string
}

/** A node may have thousands; the first few say what is the matter, and the count says how many there are. */
const holdersShown = 5

export function buildLonghornPanel(view: LonghornView): LonghornPanelModel {
  const { snapshot, decision } = view
  const { nodes, replicas: _, ...summary } = summarizeLonghorn(view)
  const leaving = new Map(nodes.map(({ node, ...rest }) => [node, rest]))
  const holders = new Map(decision.nodes.map(({ node, blockers }) => [node, blockers]))
  const replicas = tally(snapshot.replicas.filter(({ isActive }) => isActive).map(({ node }) => node))
  const attached = tally(snapshot.volumes.flatMap(({ attachedTo }) => attachedTo ?? []))
  return {
    id: 'longhorn',
    ...summary,
    places: snapshot.nodes.map(({ name }) => {
      const answer = leaving.get(name)
      const shown = (holders.get(name) ?? []).slice(0, holdersShown)
      const shownHolders = shown.map(({ object, reason, explanation, wayOut }) => ({
        object,
        reason,
        explanation,
        wayOut,
      }))
      return {
        node: name,
        replicas: replicas.get(name) ?? 0,
        attached: attached.get(name) ?? 0,
        ...(answer === undefined ? {} : { leaving: { ...answer, holders: shownHolders } }),
      }
    }),
    keeps: decision.budgets
      .filter(({ wanted }) => wanted === 'present')
      .map(({ instanceManager, node, reason }) => ({
        budget: `${snapshot.namespace}/${instanceManager}`,
        node,
        reason,
      })),
  }
}

function tally(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}
