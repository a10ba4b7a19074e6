import { machineBudgetStatus } from './budget-status.ts'
import { chooseTargets, type SickNode, sickNodes } from './choose-target.ts'
import { decideGates, type NodesForQuorum } from './decide-gates.ts'
import type { ClusterAnswer, FencingDecision, LabelChange } from './decision.ts'
import { fenceLabelValue, isFormerKey } from './fence-labels.ts'
import { fencesOf } from './fences.ts'
import { createFencingIndex, type FencingIndex } from './fencing-index.ts'
import { judgeCluster } from './judge-cluster.ts'
import type { JudgedCluster, StorageMachines } from './judged-cluster.ts'
import type { LabelledCluster } from './labelled-cluster.ts'
import { quorumChangesInMs } from './lost-quorum.ts'
import { nodeAnswers } from './node-answers.ts'
import { outageNotes, outagesChangeInMs } from './planned-outages.ts'
import { fencingProblems } from './problems.ts'
import type { FencedCluster, FencingSnapshot, MachineView } from './snapshot.ts'

/** Resync interval: how often everything is reconciled although nothing changed. */
const recheckSeconds = 60
/** How soon Ceph may have been polled again after an OSD changed: that it says the same as before is told to nobody. */
const outdatedSeconds = 5

export interface FencingJudge {
  /** The same answer as from nothing; where elements of the lists are the objects of the last time it is quick. */
  decide(snapshot: FencingSnapshot): FencingDecision
}

/** Which machines may be fenced, by whom, and why. */
export function decideFencing(snapshot: FencingSnapshot): FencingDecision {
  return createFencingJudge().decide(snapshot)
}

export function createFencingJudge(): FencingJudge {
  const indexSnapshot = createFencingIndex()
  let before: FencingDecision['nodes'] = []
  return {
    decide(snapshot) {
      const decision = decideAll(indexSnapshot(snapshot), before)
      before = decision.nodes
      return decision
    },
  }
}

function decideAll(index: FencingIndex, before: FencingDecision['nodes']): FencingDecision {
  const { snapshot, clusters } = index
  const { labels, storage } = judgeMachines(index)
  const sick = sickNodes(index)
  const judged = clusters.map((labelled) => judge(index, labelled, { sick, storage }))
  const fences = judged.flatMap((one) => one.fences)
  const mayLoseOne = new Set(judged.filter(({ verdict }) => verdict.mayLoseOne).map((one) => one.labelled))
  const targets = chooseTargets(sick, mayLoseOne, fences)
  const forQuorum = nodesForQuorum(clusters, sick)
  const isServed = snapshot.areMachinesServed || snapshot.areNodeChecksServed
  const answers = new Map(judged.map((one) => [one.labelled.cluster, answerOf(one)]))
  return {
    clusters: snapshot.clusters.map((cluster) => {
      const answer = answers.get(cluster)
      if (answer === undefined) return handedBack(cluster)
      return isServed ? answer : machinesAbsent(cluster)
    }),
    labels,
    gates: decideGates(index, sick, { targets, forQuorum }),
    nodes: nodeAnswers(index, { judged, sick, targets, forQuorum, before }),
    orphanBudgets: orphanBudgets(snapshot, clusters),
    fences,
    outages: [...index.outages.values()],
    outageNotes: outageNotes(snapshot, index.nodes, index.isWatched),
    problems: fencingProblems(snapshot, clusters),
    recheckAfterSeconds: recheckAfter(index),
  }
}

/** A monitor counts as gone when its node has been silent for long enough, a planned outage ends, and nothing else tells of that. */
function recheckAfter({ snapshot: { clusters, nodes, nowMs }, outages }: FencingIndex): number {
  const waits = [
    ...clusters.flatMap((cluster) => quorumChangesInMs(cluster, nodes, nowMs) ?? []),
    outagesChangeInMs(outages, nowMs) ?? [],
    clusters.some(({ evidence }) => evidence.known && evidence.value.isOutdated) ? outdatedSeconds * 1_000 : [],
  ].flat()
  return Math.max(1, Math.min(recheckSeconds, ...waits.map((ms) => Math.ceil(ms / 1_000))))
}

/** What is gone for one cluster may still carry OSDs of another, and is kept for it. */
function nodesForQuorum(clusters: readonly LabelledCluster[], sick: readonly SickNode[]): NodesForQuorum {
  const kept = new Set(sick.map(({ node }) => node.name))
  const released = clusters.flatMap(({ quorum }) => [...(quorum?.released ?? [])]).filter((node) => !kept.has(node))
  return { released: new Set(released), dead: new Set(clusters.flatMap(({ quorum }) => quorum?.deadNodes ?? [])) }
}

function judge(
  index: FencingIndex,
  labelled: LabelledCluster,
  { sick, storage }: { readonly sick: readonly SickNode[]; readonly storage: readonly StorageMachines[] },
): JudgedCluster {
  const fences = fencesOf(index, labelled)
  const machines = storage[labelled.at] as StorageMachines
  const verdict = judgeCluster(labelled, {
    nowMs: index.snapshot.nowMs,
    fences,
    sick,
    unlabelled: machines.unlabelled,
  })
  return { labelled, fences, verdict, machines }
}

/** One pass over all machines: which labels change, and what each cluster has of them. */
function judgeMachines({ clusters, machines, isReady: isReadyNow }: FencingIndex): {
  readonly labels: readonly LabelChange[]
  readonly storage: readonly StorageMachines[]
} {
  const labels: LabelChange[] = []
  const storage = clusters.map(() => ({ expected: 0, ready: 0, unlabelled: undefined as MachineView | undefined }))
  for (const { machine, occupancy, change } of machines) {
    if (change !== undefined) labels.push(change)
    const { runs, unknown } = occupancy
    if (runs.length + unknown.length === 0) continue
    const isReady = isReadyNow(machine)
    for (const at of unknown) {
      const labelled = clusters[at] as LabelledCluster
      if (machine.labels[labelled.key] === fenceLabelValue) count(machine, labelled, isReady)
    }
    for (const at of runs) {
      const labelled = clusters[at] as LabelledCluster
      count(machine, labelled, isReady)
      const own = storage[at] as (typeof storage)[number]
      if (own.unlabelled === undefined && machine.labels[labelled.key] !== fenceLabelValue) own.unlabelled = machine
    }
  }
  return { labels, storage }

  function count({ namespace }: MachineView, { at, cluster }: LabelledCluster, isReady: boolean): void {
    const own = storage[at]
    if (own === undefined || namespace !== cluster.settings.budgetNamespace) return
    own.expected += 1
    if (isReady) own.ready += 1
  }
}

/** A former budget stays until there is another, so that no fence is forgotten and no machine is without one. */
function orphanBudgets({ budgets }: FencingSnapshot, labelled: readonly LabelledCluster[]) {
  const needed = new Set(
    labelled.flatMap(({ budget, formerBudgets }) => (budget === undefined ? formerBudgets : [budget])),
  )
  return budgets
    .filter((budget) => budget.isOurs && !needed.has(budget))
    .map(({ namespace, name }) => ({ namespace, name }))
}

function answerOf(one: JudgedCluster): ClusterAnswer {
  const { labelled, fences, verdict, machines } = one
  const { cluster, budgetName } = labelled
  const { namespace, name, uid, settings } = cluster
  const maxUnavailable = verdict.mayLoseOne ? 1 : 0
  const disrupted = fences.filter(({ isOver }) => !isOver).map(({ machine }) => machine)
  return {
    namespace,
    name,
    uid,
    budget: {
      namespace: settings.budgetNamespace,
      name: budgetName,
      labelKey: selectedKey(one),
      maxUnavailable,
      status: machineBudgetStatus({ maxUnavailable, ...machines, disrupted }),
    },
    reason: verdict.reason,
    explanation: verdict.explanation,
  }
}

/** The key that the machines carry already: a new one only when all of them do. */
function selectedKey({ labelled: { cluster, key, budget }, machines: { unlabelled } }: JudgedCluster): string {
  const seen = budget?.labelKey
  return unlabelled !== undefined && seen !== undefined && isFormerKey(seen, cluster) ? seen : key
}

function handedBack({ namespace, name, uid, settings }: FencedCluster): ClusterAnswer {
  const explanation =
    settings.isExternal === true
      ? 'The cluster is external: its OSDs run on no machine here.'
      : 'spec.disruptionManagement.manageMachineDisruptionBudgets is false: fencing is not managed for this cluster.'
  return { namespace, name, uid, budget: undefined, reason: 'HandedBack', explanation }
}

function machinesAbsent({ namespace, name, uid }: FencedCluster): ClusterAnswer {
  const explanation = 'The API server knows neither Machines nor NodeHealthChecks, so there is nothing to fence.'
  return { namespace, name, uid, budget: undefined, reason: 'MachinesAbsent', explanation }
}
