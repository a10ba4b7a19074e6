import type { Lease } from '@cofferdam/kubernetes/api/core.ts'
import { medik8sLeaseNamespace } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { leaseHolder } from './marks.ts'

/** As long as medik8s holds a node for maintenance; renewed at half of it. */
export const leaseSeconds = 3_600

export function nodeLeaseName(node: string): string {
  return `node-${node}`
}

interface HeldNode {
  readonly node: string
  readonly nodeUid: string
  readonly nowMs: number
  /** The Lease as it was seen: ours, or one that nobody holds any more. */
  readonly seen?: Lease | undefined
}

/**
 * The Lease by which medik8s is kept off a node, to be created, or to replace the one that was seen. It goes with its node.
 *
 * Assumes: whoever asks has seen that no other holder is valid; the resourceVersion refuses what came since.
 */
export function buildNodeLease({ node, nodeUid, nowMs, seen }: HeldNode): Lease {
  const now = microTime(nowMs)
  const isHeld = seen?.spec?.holderIdentity === leaseHolder
  const transitions = seen?.spec?.leaseTransitions ?? 0
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      ...seen?.metadata,
      namespace: medik8sLeaseNamespace,
      name: nodeLeaseName(node),
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: node, uid: nodeUid }],
    },
    spec: {
      holderIdentity: leaseHolder,
      leaseDurationSeconds: leaseSeconds,
      acquireTime: isHeld ? (seen.spec?.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: seen === undefined || isHeld ? transitions : transitions + 1,
    },
  }
}

/** RFC 3339 with microseconds, as Leases carry it. */
function microTime(ms: number): string {
  return rfc3339(ms).replace('Z', `.${String(Math.floor(ms) % 1_000).padStart(3, '0')}000Z`)
}
