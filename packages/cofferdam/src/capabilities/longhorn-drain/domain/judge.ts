import { budgetAnswers } from './budget-answers.ts'
import type { BudgetAnswer, EvictionAnswer, LonghornDecision, NodeAnswer } from './decision.ts'
import { explainPlaces } from './explain-places.ts'
import { IndexedSnapshot, type Touched } from './longhorn-index.ts'
import { reasonsToHold } from './longhorn-rule.ts'
import { isAsked, nodeAnswer } from './node-answer.ts'
import { isManagerHeld, isNodeHeld, nodeHolds } from './node-holds.ts'
import { clusterProblems, volumeProblems } from './problems.ts'
import type { SettledSoFar } from './protection.ts'
import { ReplicaAnswers } from './replica-answers.ts'
import { isSeenClosed } from './seen-closing.ts'
import type { InstanceManagerView, LonghornNodeView, LonghornSnapshot } from './snapshot.ts'
import { decideSurplus } from './surplus-replicas.ts'

/** All that is decided about one node. */
interface Place {
  readonly budgets: readonly BudgetAnswer[]
  readonly evictions: readonly EvictionAnswer[]
  readonly nodes: readonly NodeAnswer[]
}

export interface LonghornJudge {
  /** The same answer as from nothing; where elements of the lists are the objects of the last time it is quick. */
  decide(snapshot: LonghornSnapshot): LonghornDecision
  /** Of the same decision, the answer about one node. A question about many nodes need not have all the rest each time. */
  decideNode(snapshot: LonghornSnapshot, node: string): NodeAnswer | undefined
}

/**
 * Decides again and again about one Longhorn, and judges again only what a change can affect.
 *
 * Budgets are let go one after the other in the order of the nodes' names, and one that is let go protects nothing for
 * those that follow: of the copies of a volume that rely on each other, one always keeps its budget. None relies on a copy that would not
 * keep it.
 */
export function createLonghornJudge(): LonghornJudge {
  const index = new IndexedSnapshot()
  const places = new Map<string, Place>()
  const surplusByVolume = new Map<string, readonly string[]>()
  const keptByVolume = new Map<string, LonghornDecision['surplusKept']>()
  const problemsByVolume = new Map<string, LonghornDecision['problems']>()
  const surplus = new Set<string>()
  const released = new Set<string>()
  const planned = new Set<string>()
  const settled: SettledSoFar = { index, released, planned, surplus }
  let replicas = new ReplicaAnswers()
  let order: readonly string[] = []

  return {
    decide(snapshot) {
      takeOver(snapshot)
      return assemble()
    },
    decideNode(snapshot, node) {
      takeOver(snapshot)
      const [answer] = places.get(node)?.nodes ?? []
      return answer === undefined ? undefined : explainPlaces(index, answer)
    },
  }

  function takeOver(snapshot: LonghornSnapshot): void {
    const touched = index.update(snapshot)
    if (touched.isEverything) judgeEverything(snapshot)
    else judgeTouched(touched)
  }

  function judgeEverything(snapshot: LonghornSnapshot): void {
    for (const all of [surplusByVolume, keptByVolume, problemsByVolume, places]) all.clear()
    for (const all of [surplus, released, planned]) all.clear()
    replicas = new ReplicaAnswers()
    const volumes = new Set([...index.volumes.keys(), ...snapshot.replicas.map(({ volume }) => volume)])
    for (const name of volumes) judgeVolume(name)
    order = [...new Set([...index.nodes.keys(), ...snapshot.instanceManagers.map(({ node }) => node)])].sort()
    for (const name of order) settleBudgets(name)
    for (const name of volumes) replicas.judge(settled, name)
    for (const name of order) places.set(name, judgePlace(name))
  }

  function judgeTouched(touched: Touched): void {
    for (const name of touched.volumes) judgeVolume(name)
    const { nodes, volumes, neighbours } = settleInOrder(touched)
    const concerned = new Set(nodes)
    for (const name of volumes) for (const { node } of replicas.judge(settled, name)) concerned.add(node)
    for (const name of neighbours) if (isAskedNow(name)) concerned.add(name)
    judgePlaces(concerned)
  }

  /** Such a node is explained too, in words about volumes that it has a part in. */
  function isAskedNow(name: string): boolean {
    const node = index.nodes.get(name)
    return node !== undefined && isAsked(node)
  }

  function judgeVolume(name: string): void {
    const before = surplusByVolume.get(name) ?? []
    const { remove: after, kept } = decideSurplus(index, name)
    for (const replica of before) surplus.delete(replica)
    for (const replica of after) surplus.add(replica)
    put(surplusByVolume, name, after)
    put(keptByVolume, name, kept === undefined ? [] : [{ volume: name, explanation: kept }])
    put(problemsByVolume, name, volumeProblems(index, name))
  }

  function judgePlaces(names: ReadonlySet<string>): void {
    const before = places.size
    const isOneNew = [...names].some((name) => !places.has(name))
    for (const name of names) {
      places.delete(name)
      if (index.nodes.has(name) || index.instanceManagersOn(name).length > 0) places.set(name, judgePlace(name))
    }
    if (isOneNew || places.size !== before) order = [...places.keys()].sort()
  }

  /** Where the budgets of a node come out differently, its volumes are touched, and nodes that share them are settled after it. */
  function settleInOrder(touched: Touched): Touched {
    const [nodes, volumes, neighbours] = [
      new Set(touched.nodes),
      new Set(touched.volumes),
      new Set([...touched.nodes, ...touched.neighbours]),
    ]
    const pending = [...neighbours].sort()
    for (let at = 0; at < pending.length; at += 1) {
      const name = pending[at] as string
      if (!settleBudgets(name)) continue
      nodes.add(name)
      for (const { volume } of index.replicasOn(name)) {
        volumes.add(volume)
        for (const { node } of index.replicasOf(volume)) {
          if (neighbours.has(node)) continue
          neighbours.add(node)
          if (node > name) pending.splice(placeAfter(pending, at, node), 0, node)
        }
      }
    }
    return { ...touched, nodes, volumes, neighbours }
  }

  /** Whether anything came out differently. Without autoscaling only cordoned nodes let budgets go, and those protect nothing. */
  function settleBudgets(name: string): boolean {
    const node = index.nodes.get(name)
    const managers = index.instanceManagersOn(name)
    const was = managers.map(({ name: manager }) => [released.delete(manager), planned.delete(manager)])
    if (node !== undefined && node.kubernetes !== 'absent') {
      const so = { ...settled, before: name }
      const isHeld = isSeenClosed(node) || index.settings.isAutoscaled ? isNodeHeld(so, name) : true
      for (const manager of managers) settleManager(manager, node, isHeld)
    }
    return managers.some(
      ({ name: manager }, at) => released.has(manager) !== was[at]?.[0] || planned.has(manager) !== was[at]?.[1],
    )
  }

  function settleManager(manager: InstanceManagerView, node: LonghornNodeView, isHeld: boolean): void {
    if (!manager.isRunning) return
    const isAlwaysThere = !isSeenClosed(node) && !index.settings.isAutoscaled
    const isWanted = isAlwaysThere || isManagerHeld(manager, isHeld)
    const isThere = index.budgets.has(manager.name)
    if (isThere && !isWanted) released.add(manager.name)
    if (!isThere && isWanted) planned.add(manager.name)
  }

  function judgePlace(name: string): Place {
    const node = index.nodes.get(name)
    if (node === undefined) {
      const state = { node, isHeld: true, reasons: undefined, answer: undefined }
      return { budgets: budgetAnswers(index, name, state), evictions: [], nodes: [] }
    }
    const evictions = replicas.evictionsOn(name)
    const isKnown = isAsked(node) || index.settings.mode === 'hold'
    const holds = isKnown ? nodeHolds(index, name, replicas.heldOn(name)) : undefined
    const answer = isAsked(node) && holds !== undefined ? nodeAnswer(settled, node, { holds, evictions }) : undefined
    const reasons = holds === undefined ? undefined : reasonsToHold(index, node, holds)
    const isHeld = isHeldAsSettled(name)
    return {
      budgets: budgetAnswers(index, name, { node, isHeld, reasons, answer }),
      evictions,
      nodes: answer === undefined ? [] : [answer],
    }
  }

  /** The answers follow what was settled, not what a second pass would give after others were settled too. */
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
    const nodes: NodeAnswer[] = []
    for (const name of order) {
      const place = places.get(name) as Place
      for (const answer of place.budgets) budgets.push(answer)
      for (const answer of place.evictions) evictions.push(answer)
      for (const answer of place.nodes) nodes.push(explainPlaces(index, answer))
    }
    const problems = [...clusterProblems(index), ...[...problemsByVolume.values()].flat()].sort(byObject)
    return {
      budgets,
      evictions,
      surplusReplicas: [...surplus].sort(),
      surplusKept: [...keptByVolume.values()].flat().sort((left, right) => (left.volume < right.volume ? -1 : 1)),
      nodes,
      problems,
    }
  }
}

/** Where a name belongs among those after a place, all of them in order. */
function placeAfter(names: readonly string[], place: number, name: string): number {
  let at = place + 1
  while (at < names.length && (names[at] as string) < name) at += 1
  return at
}

function put<T>(map: Map<string, readonly T[]>, key: string, items: readonly T[]): void {
  if (items.length === 0) map.delete(key)
  else map.set(key, items)
}

function byObject(left: LonghornDecision['problems'][number], right: LonghornDecision['problems'][number]): number {
  const [a, b] = [`${left.object} ${left.problem}`, `${right.object} ${right.problem}`]
  return a < b ? -1 : 1
}
