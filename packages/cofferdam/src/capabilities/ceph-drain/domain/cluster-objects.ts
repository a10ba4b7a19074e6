import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { isClosedToPods } from '../../../shared/closed-node.ts'
import { isServing, nodeNameOf, type OsdWhereabouts } from '../../../shared/daemon-pods.ts'
import { hostnameOf, pinnedHostname, possibleHostnames } from '../../../shared/node-hostnames.ts'
import { lostNode } from './lost-nodes.ts'
import type { DaemonView, NodeView, ServiceDaemonView } from './snapshot.ts'

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

/** By the label `app` of its pods: by which label the service is named. */
const serviceLabels: Readonly<Record<string, string>> = {
  'rook-ceph-mds': 'rook_file_system',
  'rook-ceph-nfs': 'ceph_nfs',
  'rook-ceph-nvmeof': 'app.kubernetes.io/part-of',
}

/** Reads one MDS, NFS server or gateway; undefined for anything else. */
export function parseServiceDaemon(
  deployment: Deployment,
  pods: readonly Pod[],
  whereabouts: Pick<OsdWhereabouts, 'nodeOf'>,
): ServiceDaemonView | undefined {
  const labels = deployment.metadata.labels ?? {}
  const app = labels['app'] ?? ''
  const service = labels[serviceLabels[app] ?? '']
  const id = labels[daemonIdLabel]
  if (service === undefined || id === undefined || id === '') return undefined
  const own = pods.filter(({ metadata }) => metadata.labels?.['app'] === app && metadata.labels?.[daemonIdLabel] === id)
  const nodeName = nodeNameOf(deployment, own, whereabouts)
  return {
    type: app.replace('rook-ceph-', ''),
    budget: `${app}-${service}`,
    id,
    nodeName: nodeName.known ? nodeName.value : undefined,
    isPinned: (possibleHostnames(deployment)?.length ?? Number.POSITIVE_INFINITY) <= mostPinned,
    isReady: own.some(isServing),
  }
}

/** Two drains at once can leave a daemon without a node that has no more than these. */
const mostPinned = 2

export function parseNode(node: Node): NodeView & { readonly hostname: string } {
  const lost = lostNode(node)
  return {
    name: node.metadata.name,
    hostname: hostnameOf(node),
    isClosed: isClosedToPods(node),
    ...(lost === undefined ? {} : { lost }),
  }
}
