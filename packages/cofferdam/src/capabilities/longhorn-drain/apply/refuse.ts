import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { decideTicketWithdrawal } from '../domain/eviction-attachments.ts'
import type { LonghornViews } from '../observe/observe.ts'
import type { LonghornLook } from './apply.ts'
import { applyMovingRecords } from './moving.ts'
import { applyEvictionTickets } from './tickets.ts'

/**
 * Takes back what an owner who may not be one any more left behind and nobody else takes away: attachments for moves, and the
 * records of moves. Returns what was refused.
 *
 * Budgets and flags stay: Longhorn's manager takes both over by their names and goes by its own rules from there, and a budget
 * that we deleted on a cordoned node would not be made again.
 */
export async function withdrawFromLonghorn(
  ports: { readonly api: Pick<KubeApi, 'patch'>; readonly views: LonghornViews },
  { objects, snapshot }: LonghornLook,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const changes = decideTicketWithdrawal(snapshot)
  const refused = await applyEvictionTickets(ports, objects, { changes, signal })
  const asStill = { ...snapshot, replicas: [] }
  return [...refused.values(), ...(await applyMovingRecords(ports, { snapshot: asStill }, signal))]
}
