import { machineBudgetNames } from './budget-name.ts'

export { machineBudgetName } from './budget-name.ts'

import { machineBudgetStatus } from './budget-status.ts'
import { chooseTargets, sickNodes } from './choose-target.ts'
import { decideGates } from './decide-gates.ts'
import { decideLabels } from './decide-labels.ts'
import type { ClusterAnswer, Fence, FencingDecision } from './decision.ts'
import { clusterId, fenceLabelKeys, fenceLabelValue, isFormerKey } from './fence-labels.ts'
import { type FencingIndex, fencesOf, indexFencing } from './fences.ts'
import { type ClusterVerdict, judgeCluster } from './judge-cluster.ts'
import { isStorageMachine, type LabelledCluster } from './labelled-cluster.ts'
import { nodeAnswers } from './node-answers.ts'
import { fencingProblems } from './problems.ts'
import { runningOsds } from './running-osds.ts'
import type { FencedCluster, FencingSnapshot, MachineBudgetView, MachineView } from './snapshot.ts'

/** How often everything is looked at although nothing changed. */
const recheckSeconds = 60

export interface JudgedCluster {
  readonly labelled: LabelledCluster
  readonly fences: readonly Fence[]
  readonly verdict: ClusterVerdict
  /** Machines with OSDs of it. */
  readonly machines: readonly MachineView[]
  readonly unlabelled: MachineView | undefined
}

/** Which machines may be fenced, by whom, and why. */
export function decideFencing(snapshot: FencingSnapshot): FencingDecision {
  const index = indexFencing(snapshot)
  const labelled = labelledClusters(index)
  const sick = sickNodes(index, labelled)
  const judged = labelled.map((one): JudgedCluster => {
    const fences = fencesOf(index, one)
    const machines = snapshot.machines.filter((machine) => isStorageMachine(machine, one))
    const unlabelled = machines.find((machine) => machine.labels[one.key] !== fenceLabelValue)
    const verdict = judgeCluster(one, { nowMs: snapshot.nowMs, fences, sick, unlabelled })
    return { labelled: one, fences, verdict, machines, unlabelled }
  })
  const fences = judged.flatMap((one) => one.fences)
  const maySpare = new Set(judged.filter(({ verdict }) => verdict.maySpare).map((one) => one.labelled))
  const targets = chooseTargets(sick, maySpare, fences)
  const isServed = snapshot.areMachinesServed
  const answers = new Map(judged.map((one) => [one.labelled.cluster, answerOf(index, one)]))
  return {
    clusters: snapshot.clusters.map((cluster) => {
      const answer = answers.get(cluster)
      if (answer === undefined) return handedBack(cluster)
      return isServed ? answer : machinesAbsent(cluster)
    }),
    labels: decideLabels(snapshot.machines, labelled),
    gates: decideGates(index, isServed ? sick : [], targets),
    nodes: nodeAnswers(index, { judged, sick, targets }),
    orphanBudgets: orphanBudgets(snapshot, labelled),
    fences,
    problems: fencingProblems(snapshot, labelled),
    recheckAfterSeconds: recheckSeconds,
  }
}

/** In the order of their names, so that whoever comes first does so every time. */
function labelledClusters({ snapshot, machinesByNode }: FencingIndex): LabelledCluster[] {
  const { clusters, budgets, nowMs } = snapshot
  const keys = fenceLabelKeys(clusters)
  const names = machineBudgetNames(clusters)
  return clusters
    .filter(({ settings }) => settings.isManaged)
    .map((cluster): LabelledCluster => {
      const id = clusterId(cluster)
      const budgetName = names.get(id) as string
      const isWanted = ({ namespace, name }: MachineBudgetView) =>
        namespace === cluster.settings.budgetNamespace && name === budgetName
      const osds = runningOsds(cluster, nowMs)
      return {
        cluster,
        key: keys.get(id) as string,
        osds,
        unclaimed: [...osds.running, ...osds.uncertain].filter((node) => !machinesByNode.has(node)).sort(),
        budgetName,
        budget: budgets.find(isWanted),
        formerBudgets: budgets.filter(
          (budget) => budget.isOurs && budget.clusterUid === cluster.uid && !isWanted(budget),
        ),
      }
    })
    .sort((a, b) => (clusterId(a.cluster) < clusterId(b.cluster) ? -1 : 1))
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

function answerOf({ nodes }: FencingIndex, one: JudgedCluster): ClusterAnswer {
  const { labelled, fences, verdict } = one
  const { cluster, budgetName } = labelled
  const { namespace, name, uid, settings } = cluster
  const maxUnavailable = verdict.maySpare ? 1 : 0
  const machines = one.machines
    .filter((machine) => machine.namespace === settings.budgetNamespace)
    .map((machine) => ({
      name: machine.name,
      isReady: machine.nodeName !== undefined && nodes.get(machine.nodeName)?.isReady === true,
    }))
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
      status: machineBudgetStatus({ maxUnavailable, machines, disrupted }),
    },
    reason: verdict.reason,
    explanation: verdict.explanation,
  }
}

/** The key that the machines carry already: a new one only when all of them do. */
function selectedKey({ labelled: { cluster, key, budget }, unlabelled }: JudgedCluster): string {
  const seen = budget?.labelKey
  return unlabelled !== undefined && seen !== undefined && isFormerKey(seen, cluster) ? seen : key
}

function handedBack({ namespace, name, uid, settings }: FencedCluster): ClusterAnswer {
  const explanation =
    settings.isExternal === true
      ? 'The cluster is external: its OSDs run on no machine here.'
      : 'spec.disruptionManagement.manageMachineDisruptionBudgets is false: fencing is not looked after here.'
  return { namespace, name, uid, budget: undefined, reason: 'HandedBack', explanation }
}

function machinesAbsent({ namespace, name, uid }: FencedCluster): ClusterAnswer {
  const explanation = 'The API server knows no kind of Machine, so there is nothing to fence.'
  return { namespace, name, uid, budget: undefined, reason: 'MachinesAbsent', explanation }
}
