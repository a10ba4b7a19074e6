import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { isClosedToPods } from '../../../shared/closed-node.ts'
import { isServing, nodeNameOf, type OsdWhereabouts } from '../../../shared/daemon-pods.ts'
import { hostnameOf, pinnedHostname } from '../../../shared/node-hostnames.ts'
import { lostNode } from './lost-nodes.ts'
import type { DaemonView, NodeView } from './snapshot.ts'

const daemonTypes: Readonly<Record<string, DaemonView['type']>> = { 'rook-ceph-mon': 'mon', 'rook-ceph-mgr': 'mgr' }

/** The label that budgets tell mons and mgrs apart by. */
export const daemonIdLabel = 'ceph_daemon_id'

/** Reads one mon or mgr from its Deployment and the pods of its kind; undefined for anything else. */
export function parseDaemon(
  deployment: Deployment,
  pods: readonly Pod[],
  whereabouts: Pick<OsdWhereabouts, 'nodeOf'>,
): DaemonView | undefined {
  const labels = deployment.metadata.labels ?? {}
  const type = daemonTypes[labels['app'] ?? '']
  const id = labels[daemonIdLabel]
  if (type === undefined || id === undefined || id === '') return undefined
  const own = pods.filter(
    ({ metadata }) => metadata.labels?.['app'] === labels['app'] && metadata.labels?.[daemonIdLabel] === id,
  )
  const nodeName = nodeNameOf(deployment, own, whereabouts)
  return {
    type,
    id,
    nodeName: nodeName.known ? nodeName.value : undefined,
    isPinned: pinnedHostname(deployment) !== undefined,
    isReady: own.some(isServing),
  }
}

export function parseNode(node: Node): NodeView & { readonly hostname: string } {
  const lost = lostNode(node)
  return {
    name: node.metadata.name,
    hostname: hostnameOf(node),
    isCordoned: node.spec?.unschedulable === true,
    isClosed: isClosedToPods(node),
    ...(lost === undefined ? {} : { lost }),
  }
}
