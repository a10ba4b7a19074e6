import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { pastDrainsOf } from '../../capabilities/drain-lock/view/estimate-drain.ts'
import { beginDrainPlan } from '../../capabilities/drain-lock/view/plan-drain.ts'
import { viewDrains } from '../../observe/observe-drains.ts'
import { openReader } from '../../observe/reader.ts'
import type { NodeDisruption } from '../../shared/kinds/node-disruption.ts'
import type { ClusterLink } from '../connect.ts'
import { rehearsalsOf } from '../drain/drain-request.ts'
import type { DrainPlanFile, PlannedRequest } from './drain-plan-file.ts'

export interface PlanPlace {
  readonly link: Pick<ClusterLink, 'api' | 'server'>
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly leaseNamespace: string
  readonly by?: { readonly label: string; readonly valueOf: (node: string) => string }
}

/** One reading of the cluster, and the plan that the decisions of the operator make of it. Requests in progress count as they are. */
export async function planNodes(
  names: readonly string[],
  asked: PlannedRequest,
  { link, clock, signal, leaseNamespace, by }: PlanPlace,
): Promise<DrainPlanFile> {
  const { api, server } = link
  const read = await openReader({ api, clock, leaseNamespace, signal })
  const disruptions = read.views.disruptions()
  await read.informers.settled()
  const requests: readonly NodeDisruption[] = [...disruptions.list()]
  const rehearsalOf = rehearsalsOf({ ...asked, requester: '', nowMs: clock.now() })
  const underWay = new Map(requests.filter(isUnderWay).map((each) => [each.spec.nodeName, each]))
  const { observe, ...drains } = await viewDrains(read)
  const past = pastDrainsOf(requests)
  const plan = beginDrainPlan({ ...drains, asked: new Set(names), past, ...(by === undefined ? {} : { by }) })
  for (const nodeName of names) plan.add(observe(underWay.get(nodeName) ?? rehearsalOf(nodeName)))
  return { ...plan.finish(), observedAt: timestamp(clock), server, asked, notSeen: [...new Set(read.notSeen)] }
}

function isUnderWay({ status }: NodeDisruption): boolean {
  return status?.phase !== 'Completed' && status?.phase !== 'Rejected'
}
