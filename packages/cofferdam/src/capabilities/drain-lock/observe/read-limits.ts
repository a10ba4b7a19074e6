import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Ledger } from '../../../ledger/rules/ledger.ts'
import { type DisruptionPolicy, policyName } from '../../../shared/kinds/disruption-policy.ts'
import type { Observed } from '../../../shared/observed.ts'
import type { CountedNode } from '../domain/maintenance-limits.ts'
import type { LimitView } from '../view/explain-limits.ts'
import { parsePolicy } from './limits.ts'

export interface LimitReadPorts {
  readonly views: {
    readonly nodes: () => WatchView<CountedNode>
    readonly policies: () => WatchView<DisruptionPolicy>
  }
  readonly ledger: Observed<Ledger>
  readonly signal: AbortSignal
}

/** The limits on nodes in maintenance, as the operator sees them. */
export async function readLimits({ views, ledger, signal }: LimitReadPorts): Promise<LimitView> {
  const [nodes, policies] = [views.nodes(), views.policies()]
  await Promise.all([nodes.whenSynced(signal), policies.whenSynced(signal)])
  return { nodes: [...nodes.list()], policy: parsePolicy(policies.get({ name: policyName })), ledger }
}
