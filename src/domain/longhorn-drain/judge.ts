import { budgetAnswers } from './budget-answers.ts'
import type { BudgetAnswer, EvictionAnswer, LonghornDecision, NodeAnswer } from './decision.ts'
import { evictionAnswers, isAutoEvicting } from './eviction-flags.ts'
import { IndexedSnapshot, type Touched } from './longhorn-index.ts'
import { nodeAnswer } from './node-answer.ts'
import { isManagerHeld, isNodeHeld, nodeHolds } from './node-holds.ts'
import { orphanBudgets } from './orphan-budgets.ts'
import { clusterProblems, volumeProblems } from './problems.ts'
import type { SettledSoFar } from './protection.ts'
import type { InstanceManagerView, LonghornNodeView, LonghornSnapshot } from './snapshot.ts'
import { surplusReplicas } from './surplus-replicas.ts'

/** All that is decided about one node. */
interface Place {
  readonly budgets: readonly BudgetAnswer[]
  readonly evictions: readonly EvictionAnswer[]
  readonly autoEvicting: LonghornDecision['autoEvicting']
  readonly nodes: readonly NodeAnswer[]
}

export interface LonghornJudge {
  /** The same answer as from nothing; where elements of the lists are the objects of the last time it is quick. */
  decide(snapshot: LonghornSnapshot): LonghornDecision
}

/**
 * Decides again and again about one Longhorn, and looks only at what a change can matter to.
 *
 * Budgets are let go one after the other in the order of the nodes' names, and one that is let go protects nothing for
 * those that follow: of the copies of a volume that rely on each other, one always keeps its budget.
 */
export function createLonghornJudge(): LonghornJudge {
  const index = new IndexedSnapshot()
  const places = new Map<string, Place>()
  const surplusByVolume = new Map<string, readonly string[]>()
  const problemsByVolume = new Map<string, LonghornDecision['problems']>()
  const surplus = new Set<string>()
  const released = new Set<string>()
  const planned = new Set<string>()
  const so: SettledSoFar = { index, released, planned, surplus }
  let order: readonly string[] = []

  return {
    decide(snapshot) {
      const touched = index.update(snapshot)
      const nodes = new Set(touched.nodes)
      judgeVolumes(snapshot, touched, nodes)
      // Where budgets lean on each other a change may matter to any node.
      if (touched.isEverything || snapshot.settings.isAutoscaled) judgeEverything(snapshot)
      else judgeNodes(nodes)
      return assemble()
    },
  }

  function judgeVolumes(snapshot: LonghornSnapshot, touched: Touched, nodes: Set<string>): void {
    if (touched.isEverything) {
      surplusByVolume.clear()
      problemsByVolume.clear()
      surplus.clear()
    }
    const names = touched.isEverything
      ? new Set([...index.volumes.keys(), ...snapshot.replicas.map(({ volume }) => volume)])
      : touched.volumes
    for (const name of names) {
      const before = surplusByVolume.get(name) ?? []
      const after = surplusReplicas(index, name)
      for (const replica of before) surplus.delete(replica)
      for (const replica of after) surplus.add(replica)
      put(surplusByVolume, name, after)
      put(problemsByVolume, name, volumeProblems(index, name))
      if (before.length > 0 || after.length > 0) for (const { node } of index.copiesOf(name)) nodes.add(node)
    }
  }

  function judgeEverything(snapshot: LonghornSnapshot): void {
    places.clear()
    released.clear()
    planned.clear()
    const names = new Set([...index.nodes.keys(), ...snapshot.instanceManagers.map(({ node }) => node)])
    order = [...names].sort()
    for (const name of order) settleBudgets(name)
    for (const name of order) places.set(name, judgePlace(name))
  }

  function judgeNodes(nodes: ReadonlySet<string>): void {
    const standing = [...nodes].filter((name) => index.nodes.has(name) || index.instanceManagersOn(name).length > 0)
    const before = places.size
    const isOneNew = standing.some((name) => !places.has(name))
    for (const name of nodes) places.delete(name)
    for (const name of standing.sort()) settleBudgets(name)
    for (const name of standing) places.set(name, judgePlace(name))
    if (isOneNew || places.size !== before) order = [...places.keys()].sort()
  }

  /** Without autoscaling only cordoned nodes let budgets go, and those protect nothing anyway. */
  function settleBudgets(name: string): void {
    const node = index.nodes.get(name)
    const managers = index.instanceManagersOn(name)
    for (const manager of managers) {
      released.delete(manager.name)
      planned.delete(manager.name)
    }
    if (node === undefined || node.kubernetes === 'absent') return
    const isHeld = node.isCordoned || index.settings.isAutoscaled ? isNodeHeld(so, name) : true
    for (const manager of managers) settleManager(manager, node, isHeld)
  }

  function settleManager(manager: InstanceManagerView, node: LonghornNodeView, isHeld: boolean): void {
    if (!manager.isRunning) return
    const isAlwaysThere = !node.isCordoned && !index.settings.isAutoscaled
    const isWanted = isAlwaysThere || isManagerHeld(manager, isHeld)
    const isThere = index.budgets.has(manager.name)
    if (isThere && !isWanted) released.add(manager.name)
    if (!isThere && isWanted) planned.add(manager.name)
  }

  function judgePlace(name: string): Place {
    const node = index.nodes.get(name)
    if (node === undefined) {
      const budgets = budgetAnswers(index, name, { node, isHeld: true, answer: undefined })
      return { budgets, evictions: [], autoEvicting: [], nodes: [] }
    }
    const evictions = evictionAnswers(so, node)
    const isAuto = isAutoEvicting(so, node, evictions)
    const answer =
      node.isCordoned || node.isDraining ? nodeAnswer(so, node, { holds: nodeHolds(so, name), evictions }) : undefined
    const isHeld = isHeldAsSettled(name)
    return {
      budgets: budgetAnswers(index, name, { node, isHeld, answer }),
      evictions,
      autoEvicting: isAuto === node.isAutoEvicting ? [] : [{ node: name, isAutoEvicting: isAuto }],
      nodes: answer === undefined ? [] : [answer],
    }
  }

  /** The answers follow what was settled, not what a second look would give after others were settled too. */
  function isHeldAsSettled(name: string): boolean {
    return index
      .instanceManagersOn(name)
      .some(
        ({ name: manager, isRunning, type }) =>
          isRunning &&
          type !== 'engine' &&
          (index.budgets.has(manager) ? !released.has(manager) : planned.has(manager)),
      )
  }

  function assemble(): LonghornDecision {
    const budgets: BudgetAnswer[] = []
    const evictions: EvictionAnswer[] = []
    const autoEvicting: LonghornDecision['autoEvicting'][number][] = []
    const nodes: NodeAnswer[] = []
    for (const name of order) {
      const place = places.get(name) as Place
      for (const answer of place.budgets) budgets.push(answer)
      for (const answer of place.evictions) evictions.push(answer)
      autoEvicting.push(...place.autoEvicting)
      nodes.push(...place.nodes)
    }
    const problems = [...clusterProblems(index), ...[...problemsByVolume.values()].flat()].sort(byObject)
    return {
      budgets,
      evictions,
      autoEvicting,
      orphanBudgets: orphanBudgets(index),
      surplusReplicas: [...surplus].sort(),
      nodes,
      problems,
    }
  }
}

function put<T>(map: Map<string, readonly T[]>, key: string, items: readonly T[]): void {
  if (items.length === 0) map.delete(key)
  else map.set(key, items)
}

function byObject(left: LonghornDecision['problems'][number], right: LonghornDecision['problems'][number]): number {
  const [a, b] = [`${left.object} ${left.problem}`, `${right.object} ${right.problem}`]
  return a < b ? -1 : a > b ? 1 : 0
}
