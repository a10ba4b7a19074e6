import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { closingOf, taintText } from '../../../shared/closed-node.ts'
import { cordonMarkOf } from '../../../shared/cordon-mark.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import type { ClosingChange } from './closing-change.ts'
import { closingMark, liftedMark } from './closing-mark.ts'
import { isLeaving } from './eviction-flags.ts'
import type { ObservedLonghorn } from './plan-budgets.ts'
import { isSeenClosed } from './seen-closing.ts'
import type { LonghornNodeView, LonghornSnapshot } from './snapshot.ts'
import type { GuidanceWrite, LonghornWrite } from './steps.ts'

type Seen = Pick<ObservedLonghorn, 'objects' | 'snapshot'>

/**
 * Longhorn sees no taint. Where one alone closes a node that has something of Longhorn on it, the node is cordoned for as long as the
 * taint is there; else its budgets would stay, and replicas that leave it would be built on it again.
 *
 * Guarantees: nothing is cordoned before the policy that a guide wants is in force, since Longhorn lets a cordoned node go by the one that
 * is. Only our own cordon is lifted, and not under a NodeDisruption that relies on it.
 * Fails closed: where the policy is unknown, or the taints cannot be read, nothing is cordoned and nothing uncordoned.
 */
export function closingSteps(seen: Seen, guidance: readonly GuidanceWrite[]): readonly LonghornWrite[] {
  const changes = decideClosing(seen, { mayBegin: !guidance.some(isOfPolicy) })
  return changes.length === 0 ? [] : [{ do: 'write', what: 'closing', changes }]
}

function isOfPolicy({ changes }: GuidanceWrite): boolean {
  return changes.some(({ kind, value }) => kind === 'setting' && value !== undefined)
}

export function decideClosing(
  { objects, snapshot }: Seen,
  { mayBegin }: { readonly mayBegin: boolean },
): readonly ClosingChange[] {
  const views = new Map(snapshot.nodes.map((view) => [view.name, view]))
  const isManaged = snapshot.settings.mode !== 'observe'
  return objects.kubeNodes.flatMap((node) => {
    const { name, uid = '' } = node.metadata
    const view = views.get(name)
    const isTaken = objects.disruptions.some((disruption) => isActing(disruption, name))
    const mark = cordonMarkOf(node)
    const decided =
      mark === closingMark || mark === liftedMark
        ? ending(node, { mark, isManaged, isTaken })
        : isManaged && mayBegin && !isTaken && view !== undefined
          ? beginning(snapshot, node, view)
          : undefined
    return decided === undefined ? [] : [{ node: name, uid, ...decided }]
  })
}

type Decided = Pick<ClosingChange, 'to' | 'explanation'> | undefined

function beginning(snapshot: LonghornSnapshot, node: Node, view: LonghornNodeView): Decided {
  const { settings } = snapshot
  const taint = view.closing?.taint
  if (taint === undefined || isSeenClosed(view) || !isLeaving(settings, view) || !settings.policy.known)
    return undefined
  if (!hasSomethingOn(snapshot, view.name)) return undefined
  const explanation = `Node ${node.metadata.name} is closed by ${taintText(taint)}, which Longhorn does not see. It is cordoned, so that Longhorn moves what has to leave and lets it go, and uncordoned when the taint is gone.`
  return { to: 'cordon', explanation }
}

/** Longhorn's budgets hold an open node even where they protect nothing. */
function hasSomethingOn({ replicas, instanceManagers, budgets }: LonghornSnapshot, node: string): boolean {
  return (
    replicas.some((replica) => replica.node === node) ||
    instanceManagers.some(
      (manager) => manager.node === node && (manager.engines.length > 0 || budgets.has(manager.name)),
    )
  )
}

function ending(
  node: Node,
  { mark, isManaged, isTaken }: { readonly mark: string; readonly isManaged: boolean; readonly isTaken: boolean },
): Decided {
  const { name } = node.metadata
  const closing = closingOf(node)
  const isClosedByOthers = closing?.taint !== undefined || closing?.unreadable !== undefined
  if (mark === liftedMark || closing?.isCordoned !== true) {
    if (!isClosedByOthers || !isManaged) return { to: 'forget', explanation: '' }
    if (mark === liftedMark) return undefined
    const by = closing?.taint === undefined ? '' : ` though it is closed by ${taintText(closing.taint)}`
    const explanation = `Another client uncordoned node ${name}${by}. It is not cordoned again for Longhorn until the taint is gone.`
    return { to: 'yield', explanation }
  }
  if (isTaken) return undefined
  if (!isManaged) {
    const explanation = `Cofferdam does not manage drains of Longhorn any more: the cordon of node ${name} that it had set for them is lifted.`
    return { to: 'withdraw', explanation }
  }
  if (isClosedByOthers) return undefined
  return {
    to: 'lift',
    explanation: `The taint of node ${name} is gone: the cordon that was set for Longhorn is lifted.`,
  }
}

/** From when a request has cordoned the node, or would have: then a node that is open again counts as released by its user. */
function isActing({ spec, status }: NodeDisruption, node: string): boolean {
  const { phase } = status ?? {}
  return spec?.nodeName === node && (phase === 'Draining' || phase === 'Drained' || phase === 'Recovering')
}
