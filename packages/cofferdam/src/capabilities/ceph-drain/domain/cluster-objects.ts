import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { isClosedToPods } from '../../../shared/closed-node.ts'
import { hostnameOf, type NodeOfHostname, pinnedHostname } from '../../../shared/node-hostnames.ts'
import type { ObjectProblem } from '../../../shared/object-problem.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import type { DaemonView, NodeView, OsdView } from './snapshot.ts'

/** Where an OSD is when no pod of it says so. */
export interface OsdWhereabouts {
  readonly nodeOf: NodeOfHostname
  /** The node it last ran on, by `ceph osd metadata`. */
  readonly cephHostname?: string | undefined
}

/** A Deployment that is no usable OSD is a problem of its own and of no other. */
export type ParsedOsd = { readonly osd: OsdView } | { readonly problem: ObjectProblem }

const topologyPrefix = 'topology-location-'

/**
 * Reads one OSD from its Deployment and its pods.
 *
 * An OSD is ready when its Deployment counts a ready pod and, where pods are at hand, one of them is ready and not going.
 */
export function parseOsd(deployment: Deployment, pods: readonly Pod[], whereabouts: OsdWhereabouts): ParsedOsd {
  const labels = deployment.metadata.labels ?? {}
  const id = labels['ceph-osd-id'] ?? labels['osd']
  if (id === undefined || !/^\d{1,9}$/.test(id)) {
    const problem =
      id === undefined ? 'has no label ceph-osd-id' : `its label ceph-osd-id ${JSON.stringify(id)} is no OSD`
    return { problem: { object: `deployment/${deployment.metadata.name}`, problem } }
  }
  const own = pods.filter(({ metadata }) => (metadata.labels?.['ceph-osd-id'] ?? metadata.labels?.['osd']) === id)
  return {
    osd: {
      id: Number(id),
      isReady: (deployment.status?.readyReplicas ?? 0) >= 1 && (own.length === 0 || own.some(isServing)),
      isBeingReplaced: deployment.metadata.annotations?.['osd.rook.io/replace-in-progress'] === 'true',
      nodeName: nodeNameOf(deployment, own, whereabouts),
      hasPodOnNode: own.some(isOnNode),
      topology: topologyOf(deployment.spec?.template?.metadata?.labels ?? labels),
    },
  }
}

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
  return {
    name: node.metadata.name,
    hostname: hostnameOf(node),
    isCordoned: node.spec?.unschedulable === true,
    isClosed: isClosedToPods(node),
  }
}

function isServing(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp === undefined && conditionOf(pod, 'Ready')?.status === 'True'
}

/** Finished pods hold up no drain; a pod that is told to go does until it is gone. */
function isOnNode({ spec, status }: Pod): boolean {
  return spec.nodeName !== undefined && status?.phase !== 'Succeeded' && status?.phase !== 'Failed'
}

/** Where the hostname names no single node, only Ceph can tell where the OSD last ran. */
function nodeNameOf(
  deployment: Deployment,
  pods: readonly Pod[],
  { nodeOf, cephHostname = '' }: OsdWhereabouts,
): Observed<string> {
  const placed = pods.filter(({ spec }) => spec.nodeName !== undefined).sort(byAge)
  const current = placed.find(({ metadata }) => metadata.deletionTimestamp === undefined) ?? placed[0]
  if (current?.spec.nodeName !== undefined) return known(current.spec.nodeName)
  const hostname = pinnedHostname(deployment)
  const pinned = hostname === undefined ? undefined : nodeOf(hostname)
  if (pinned?.known === true) return known(pinned.value.name)
  if (cephHostname !== '') return known(cephHostname)
  return pinned ?? unknown('no pod, no node selector, and Ceph never saw it run')
}

/** Newest first, then by name, so that the order of a list says nothing. */
function byAge(left: Pod, right: Pod): number {
  const [a, b] = [left, right].map(({ metadata }) => `${metadata.creationTimestamp ?? ''} ${metadata.name}`)
  return (a as string) < (b as string) ? 1 : -1
}

/** Budgets select pods, so the labels of the pod template count. */
function topologyOf(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(labels)
      .filter(([key, value]) => key.startsWith(topologyPrefix) && value !== '')
      .map(([key, value]) => [key.slice(topologyPrefix.length), value]),
  )
}
