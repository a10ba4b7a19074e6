import { known, type Observed, unknown } from '../../../shared/observed.ts'
import type { CephEvidence, FencedCluster, FencedNodeView, FencedOsd } from './snapshot.ts'

/** Kubernetes writes times to the second: what it dates to a second happened before that second was over. */
const secondMs = 1_000

/**
 * What Ceph said, but that all data is clean only if none of its OSDs has left, come or restarted since: an eviction is seen before Ceph
 * notices that a copy is missing.
 *
 * Fails closed where OSDs cannot be read. A node that is not Ready says nothing about its pods, so what Ceph says of their OSDs
 * stands; else a machine whose kubelet is dead could never be fenced while its OSDs run.
 */
export function evidenceBeside(
  { evidence, osds, osdsUnread }: Pick<FencedCluster, 'evidence' | 'osds' | 'osdsUnread'>,
  isNodeReady: (node: string) => boolean,
): Observed<CephEvidence> {
  if (!evidence.known || !evidence.value.isClean.known || !evidence.value.isClean.value) return evidence
  if (osdsUnread !== undefined)
    return known({ ...evidence.value, isClean: unknown(`its OSDs cannot be read: ${osdsUnread}`) })
  const changed = osds.find((osd) => isHeardOf(osd, isNodeReady) && hasChanged(osd, evidence.value))
  if (changed === undefined) return evidence
  const what = changed.isLeaving === true ? 'is leaving, which it has not noticed yet' : 'started or stopped after that'
  return known({
    ...evidence.value,
    isClean: unknown(`Ceph was polled, and osd.${changed.id} ${what}`),
    isOutdated: true,
  })
}

/** The nodes that speak for their pods; of a node that is not known no pod is disbelieved. */
export function readyNodes(nodes: readonly FencedNodeView[]): (node: string) => boolean {
  const silent = new Set(nodes.flatMap(({ name, isReady }) => (isReady ? [] : name)))
  return (node) => !silent.has(node)
}

function isHeardOf({ nodeName }: FencedOsd, isNodeReady: (node: string) => boolean): boolean {
  return !nodeName.known || isNodeReady(nodeName.value)
}

function hasChanged({ id, isLeaving = false, changedMs }: FencedOsd, { upOsds, polledAtMs, isRecord }: CephEvidence) {
  if (isLeaving) return upOsds.has(id)
  return isRecord !== true && changedMs !== undefined && polledAtMs < changedMs + secondMs
}
