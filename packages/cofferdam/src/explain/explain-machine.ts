import { fenceLabelValue } from '../capabilities/fencing/domain/fence-labels.ts'
import type { MachineView } from '../capabilities/fencing/domain/snapshot.ts'
import { answerFencing, type FencingAnswer } from '../capabilities/fencing/view/fencing-answer.ts'
import type { FencingView } from '../capabilities/fencing/view/fencing-view.ts'
import type { Blocker } from '../shared/blocker.ts'
import type { Explanation } from './explanation.ts'

export interface MachineExplanation extends Explanation {
  /** Left out while it has none. */
  readonly nodeName?: string
  readonly fencing: FencingAnswer
}

/** May this machine be fenced now, and if not, what holds it? */
export function explainMachine(view: FencingView, machine: MachineView): MachineExplanation {
  const { namespace, name, nodeName } = machine
  const fencing =
    (nodeName === undefined ? undefined : answerFencing(view, nodeName)) ?? answerWithoutNode(view, machine)
  const { mayFence, budgets, reason, explanation, wayOut = '', planned } = fencing
  const isPlanned = planned !== undefined && reason === 'PlannedOutage'
  const budget = budgets.find(({ allowed }) => allowed === 0) ?? budgets[0]
  const blocker: Blocker = {
    object: isPlanned
      ? `nodedisruption/${planned.request}`
      : budget === undefined
        ? `machine/${namespace}/${name}`
        : `machinedisruptionbudget/${budget.budget}`,
    reason,
    explanation,
    holder: isPlanned ? planned.by : budget === undefined ? 'fencing' : `cephcluster/${budget.cluster}`,
    causes: [],
    unblocks: wayOut,
    override: isPlanned
      ? `cofferdam uncordon ${nodeName} cancels the request; remediators may then fence the machine while it reboots`
      : `kubectl -n ${namespace} delete machine ${name} bypasses the budget; data may become unavailable, or be lost with its disks`,
    waiting: [],
  }
  return {
    object: `machine/${namespace}/${name}`,
    mayGo: mayFence,
    summary: mayFence ? 'It may be fenced now.' : 'It may not be fenced now.',
    blockers: mayFence ? [] : [blocker],
    holds: [],
    ...(nodeName === undefined ? {} : { nodeName }),
    fencing,
  }
}

/** A machine that lost its node keeps its label while it may be the one of OSDs that nobody can place. */
function answerWithoutNode({ decision }: FencingView, { namespace, name, labels }: MachineView): FencingAnswer {
  const cluster = decision.clusters.find(
    ({ budget }) => budget !== undefined && labels[budget.labelKey] === fenceLabelValue,
  )
  const isFree = cluster === undefined || (cluster.budget?.status.disruptionsAllowed ?? 0) > 0
  return {
    machine: `${namespace}/${name}`,
    mayFence: isFree,
    reason: cluster?.reason ?? 'MachineHasNoOsds',
    explanation: cluster?.explanation ?? 'It has no node, so no OSD runs on it, and storage does not hold it back.',
    ...(isFree ? {} : { wayOut: 'It opens when Ceph is clean, or when it is known that no OSD runs on it.' }),
    budgets: [],
    gates: [],
    remediators: [],
  }
}
