import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Lease, Node } from '@cofferdam/kubernetes/api/core.ts'
import { medik8sLeaseNamespace } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { leases } from '@cofferdam/kubernetes/api/resources.ts'
import { parseRfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { microTimestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { ActorTools } from '../actor.ts'

export const nodeLeaseSeconds = 600

const namespace = medik8sLeaseNamespace

/**
 * Takes or renews the Lease of a node. False: somebody else holds it.
 *
 * Where there is no namespace for Leases nobody can hold one, so a remediator goes on without.
 */
export async function takeNodeLease(
  tools: Pick<ActorTools, 'api' | 'clock'>,
  node: Node,
  holder: string,
  leaseDurationSeconds = nodeLeaseSeconds,
): Promise<boolean> {
  const { name: nodeName, uid = '' } = node.metadata
  const name = `node-${nodeName}`
  const renewTime = microTimestamp(tools.clock)
  const held = await heldLease(tools, name)
  try {
    if (held === undefined) {
      await tools.api.create(leases, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name, namespace, ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: nodeName, uid }] },
        spec: { holderIdentity: holder, leaseDurationSeconds, acquireTime: renewTime, renewTime },
      })
      return true
    }
    const isMine = held.spec?.holderIdentity === holder
    if (!isMine && isValid(held, tools.clock.now())) return false
    const acquireTime = isMine ? (held.spec?.acquireTime ?? renewTime) : renewTime
    const spec = { ...held.spec, holderIdentity: holder, leaseDurationSeconds, acquireTime, renewTime }
    await tools.api.update(leases, { ...held, spec })
    return true
  } catch (error) {
    if (hasReason(error, 'AlreadyExists', 'Conflict')) return false
    if (held === undefined && hasReason(error, 'NotFound')) return true
    throw error
  }
}

/** Only one that is ours. */
export async function freeNodeLease(tools: Pick<ActorTools, 'api'>, node: string, holder: string): Promise<void> {
  const held = await heldLease(tools, `node-${node}`)
  if (held?.spec?.holderIdentity !== holder) return
  const { name, resourceVersion = '' } = held.metadata
  await tools.api
    .delete(leases, { namespace, name }, { preconditions: { resourceVersion } })
    .catch((error: unknown) => {
      if (!hasReason(error, 'NotFound')) throw error
    })
}

async function heldLease(tools: Pick<ActorTools, 'api'>, name: string): Promise<Lease | undefined> {
  return tools.api.get(leases, { namespace, name }).catch((error: unknown) => {
    if (!hasReason(error, 'NotFound')) throw error
    return undefined
  })
}

/** By the reader's clock, as medik8s does it: one that was renewed in the future counts for nothing. */
function isValid({ spec }: Lease, nowMs: number): boolean {
  const renewedMs = parseRfc3339(spec?.renewTime ?? '')
  if (renewedMs === undefined || renewedMs > nowMs) return false
  return nowMs < renewedMs + (spec?.leaseDurationSeconds ?? 0) * 1_000
}
