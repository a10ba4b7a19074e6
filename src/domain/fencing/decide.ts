import { machineBudgetStatus } from './budget-status.ts'
import { chooseTargets, type SickNode, sickNodes } from './choose-target.ts'
import { decideGates } from './decide-gates.ts'
import { decideLabels, isStorageMachine, type LabelledCluster } from './decide-labels.ts'
import type { ClusterAnswer, Fence, FenceAnswer, FencingDecision } from './decision.ts'
import { clusterId, fenceLabelKeys, fenceLabelValue } from './fence-labels.ts'
import { type FencingIndex, fencesOf, indexFencing } from './fences.ts'
import { type ClusterVerdict, judgeCluster } from './judge-cluster.ts'
import { fencingProblems } from './problems.ts'
import { runningOsds } from './running-osds.ts'
import type { FencedCluster, FencingSnapshot, MachineBudgetView } from './snapshot.ts'

/** How often everything is looked at although nothing changed. */
const recheckSeconds = 60

interface JudgedCluster {
  readonly labelled: LabelledCluster
  readonly budget: MachineBudgetView | undefined
  readonly fences: readonly Fence[]
  readonly verdict: ClusterVerdict
}

/** Which machines may be fenced, by whom, and why. */
export function decideFencing(snapshot: FencingSnapshot): FencingDecision {
  const index = indexFencing(snapshot)
  const keys = fenceLabelKeys(snapshot.clusters)
  const labelled = snapshot.clusters.filter(isManaged).map(
    (cluster): LabelledCluster => ({
      cluster,
      key: keys.get(clusterId(cluster)) as string,
      osds: runningOsds(cluster, snapshot.nowMs),
    }),
  )
  const sick = sickNodes(index, labelled)
  const judged = labelled.map((one): JudgedCluster => {
    const budget = snapshot.budgets.find((seen) => isBudgetOf(seen, one.cluster))
    const fences = fencesOf(index, one, budget)
    return {
      labelled: one,
      budget,
      fences,
      verdict: judgeCluster(one, { nowMs: snapshot.nowMs, budget, fences, sick }),
    }
  })
  const fences = judged.flatMap((one) => one.fences)
  const maySpare = new Set(judged.filter(({ verdict }) => verdict.maySpare).map((one) => one.labelled))
  const targets = chooseTargets(sick, maySpare, fences)
  const isServed = snapshot.areMachinesServed
  return {
    clusters: snapshot.clusters.map((cluster) => {
      const one = judged.find((each) => each.labelled.cluster === cluster)
      if (one === undefined) return handedBack(cluster)
      return isServed ? answerOf(index, one) : machinesAbsent(cluster)
    }),
    labels: isServed ? decideLabels(snapshot.machines, labelled) : [],
    gates: isServed ? decideGates(index, sick, targets) : [],
    nodes: nodeAnswers(index, { judged, sick, targets }),
    orphanBudgets: snapshot.budgets
      .filter((budget) => budget.isOurs && !labelled.some(({ cluster }) => isBudgetOf(budget, cluster)))
      .map(({ namespace, name }) => ({ namespace, name })),
    fences,
    problems: fencingProblems(snapshot, labelled),
    recheckAfterSeconds: recheckSeconds,
  }
}

/** As Rook named it. */
export function machineBudgetName({ namespace, name }: Pick<FencedCluster, 'namespace' | 'name'>): string {
  return `${name}-${namespace}`
}

function isManaged({ settings }: FencedCluster): boolean {
  return settings.isManaged
}

function isBudgetOf({ namespace, name }: MachineBudgetView, cluster: FencedCluster): boolean {
  return namespace === cluster.settings.budgetNamespace && name === machineBudgetName(cluster)
}

function answerOf({ snapshot, nodes }: FencingIndex, { labelled, fences, verdict }: JudgedCluster): ClusterAnswer {
  const { cluster, key } = labelled
  const { namespace, name, uid, settings } = cluster
  const maxUnavailable = verdict.maySpare ? 1 : 0
  const machines = snapshot.machines
    .filter(
      (machine) => machine.namespace === settings.budgetNamespace && isSelected(machine.labels, key, labelled, machine),
    )
    .map((machine) => ({
      name: machine.name,
      isReady: machine.nodeName !== undefined && nodes.get(machine.nodeName)?.isReady === true,
    }))
  const disrupted = fences.filter(({ isOver }) => !isOver).map(({ machine }) => machine)
  const status = machineBudgetStatus({ maxUnavailable, machines, disrupted })
  return {
    namespace,
    name,
    uid,
    budget: {
      namespace: settings.budgetNamespace,
      name: machineBudgetName(cluster),
      labelKey: key,
      maxUnavailable,
      status,
    },
    reason: verdict.reason,
    explanation: verdict.explanation,
  }
}

/** As it will be when the labels are as decided. */
function isSelected(
  labels: Readonly<Record<string, string>>,
  key: string,
  labelled: LabelledCluster,
  machine: FencingSnapshot['machines'][number],
): boolean {
  return isStorageMachine(machine, labelled) || (labels[key] === fenceLabelValue && machine.isBeingDeleted)
}

function handedBack({ namespace, name, uid }: FencedCluster): ClusterAnswer {
  const explanation =
    'spec.disruptionManagement.manageMachineDisruptionBudgets is false: fencing is not looked after here'
  return { namespace, name, uid, budget: undefined, reason: 'HandedBack', explanation }
}

function machinesAbsent({ namespace, name, uid }: FencedCluster): ClusterAnswer {
  const explanation = 'The API server knows no kind of Machine, so there is nothing to fence.'
  return { namespace, name, uid, budget: undefined, reason: 'MachinesAbsent', explanation }
}

interface Judged {
  readonly judged: readonly JudgedCluster[]
  readonly sick: readonly SickNode[]
  readonly targets: ReadonlySet<string>
}

function nodeAnswers(index: FencingIndex, { judged, sick, targets }: Judged): FenceAnswer[] {
  const isSick = new Set(sick.map(({ node }) => node.name))
  const answers: FenceAnswer[] = []
  for (const node of index.snapshot.nodes) {
    const concerned = judged.filter(({ labelled: { osds } }) =>
      [osds.running, osds.uncertain, osds.down].some((on) => on.has(node.name)),
    )
    if (concerned.length === 0) continue
    const machine = index.machinesByNode.get(node.name)
    const base = { node: node.name, machine: machine?.name }
    const holding = concerned.filter(({ labelled: { osds } }) => !osds.down.has(node.name))
    const refusing = holding.find(({ verdict }) => !verdict.maySpare)
    if (targets.has(node.name) && !isSick.has(node.name)) {
      answers.push({ ...base, mayFence: true, reason: 'FenceUnderWay', explanation: 'It is being fenced.', wayOut: '' })
    } else if (holding.length === 0) {
      const explanation = 'No OSD runs on it any more, so storage does not hold it back.'
      answers.push({ ...base, mayFence: true, reason: 'MachineHasNoOsds', explanation, wayOut: '' })
    } else if (refusing !== undefined && !targets.has(node.name)) {
      const { reason, explanation, wayOut } = refusing.verdict
      answers.push({ ...base, mayFence: false, reason, explanation, wayOut })
    } else if (isSick.has(node.name) && !targets.has(node.name)) {
      const first = [...targets].filter((name) => isSick.has(name)).join(', ')
      const explanation = `${first === '' ? 'Another node' : first} comes first.`
      answers.push({
        ...base,
        mayFence: false,
        reason: 'FenceInTurn',
        explanation,
        wayOut: 'Its turn comes when Ceph is clean again.',
      })
    } else {
      const explanation = 'All placement groups are clean: one machine may be fenced.'
      answers.push({ ...base, mayFence: true, reason: 'FenceAllowed', explanation, wayOut: '' })
    }
  }
  return answers.sort((a, b) => (a.node < b.node ? -1 : 1))
}
