import { closingText, type NodeClosing } from '../../../shared/closed-node.ts'
import type { ReplicaBlocker } from './decision.ts'
import { isSeenClosed } from './seen-closing.ts'
import type { LonghornDrainSettings, LonghornNodeView } from './snapshot.ts'

type Rule = Pick<LonghornDrainSettings, 'mode' | 'trigger' | 'isAutoscaled' | 'policy'>

/**
 * What holds a node that Longhorn takes for open: that it does not see what closes it. Everything else is judged when it does, and to
 * name it now would promise what does not begin. Only in an autoscaled cluster do budgets of open nodes go as well.
 */
export function withUnseenClosing(
  settings: Rule,
  node: LonghornNodeView,
  others: readonly ReplicaBlocker[],
): readonly ReplicaBlocker[] {
  if (!node.isCordoned || isSeenClosed(node)) return others
  if (!settings.isAutoscaled) return [explainUnseen(settings, node)]
  return others.length === 0 ? others : [explainUnseen(settings, node), ...others]
}

function explainUnseen(settings: Rule, node: LonghornNodeView): ReplicaBlocker {
  const { name, closing } = node
  const what = closingText(closing as NodeClosing)
  return {
    object: `node/${name}`,
    volume: '',
    reason: 'TaintNotSeen',
    explanation: `Node ${name} is ${what}, which Longhorn does not see: it goes by cordons alone, keeps its budgets on the node and moves no replica.`,
    wayOut: wayOutOf(settings, node),
  }
}

function wayOutOf({ mode, trigger, policy }: Rule, { name, closing, ownCordon, isDraining }: LonghornNodeView): string {
  const cordon = `kubectl cordon ${name}`
  if (mode === 'observe')
    return `${cordon}; with cofferdam.io/manage=guide Cofferdam does so for the time of the drain.`
  if (ownCordon === 'lifted') {
    return `${cordon}; another client uncordoned it, so Cofferdam does not cordon it again until the taint is gone.`
  }
  if (closing?.taint === undefined) return `Correct the taints of the node, or ${cordon}.`
  if (!policy.known) return `Correct the drain policy, so that Cofferdam cordons the node, or ${cordon}.`
  if (trigger === 'drain' && !isDraining) return `Cofferdam cordons it when its drain starts; to begin now: ${cordon}.`
  return `Cofferdam cordons it next. If it does not, see the events of setting node-drain-policy, or ${cordon}.`
}
