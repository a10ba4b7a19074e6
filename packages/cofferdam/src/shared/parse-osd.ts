import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { isServing, nodeNameOf, type OsdWhereabouts } from './daemon-pods.ts'
import type { ObjectProblem } from './object-problem.ts'
import type { Observed } from './observed.ts'

/** One OSD as Kubernetes has it: its Deployment, and the node it belongs to. */
export interface OsdView {
  readonly id: number
  readonly isReady: boolean
  /** Annotation `osd.rook.io/replace-in-progress`: it is meant to be away. */
  readonly isBeingReplaced: boolean
  /** From the pod, from the Deployment's node selector, or from `ceph osd metadata`. */
  readonly nodeName: Observed<string>
  /** Label values by CRUSH type: `{ host: 'node-a', zone: 'zone-x' }`, dots as dashes. */
  readonly topology: Readonly<Record<string, string>>
  /** A pod of it is on its node, ready or not, and has to go before the node is empty. Absent: as `isReady`. */
  readonly hasPodOnNode?: boolean
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
  const before = placedByPod.get(deployment)
  if (before !== undefined && isSameList(before.pods, pods)) return before.parsed
  const labels = deployment.metadata.labels ?? {}
  const id = labels['ceph-osd-id'] ?? labels['osd']
  if (id === undefined || !/^\d{1,9}$/.test(id)) {
    const problem =
      id === undefined ? 'has no label ceph-osd-id' : `its label ceph-osd-id ${JSON.stringify(id)} is no OSD`
    return { problem: { object: `deployment/${deployment.metadata.name}`, problem } }
  }
  const own = pods.filter(({ metadata }) => (metadata.labels?.['ceph-osd-id'] ?? metadata.labels?.['osd']) === id)
  const parsed: ParsedOsd = {
    osd: {
      id: Number(id),
      isReady: (deployment.status?.readyReplicas ?? 0) >= 1 && (own.length === 0 || own.some(isServing)),
      isBeingReplaced: deployment.metadata.annotations?.['osd.rook.io/replace-in-progress'] === 'true',
      nodeName: nodeNameOf(deployment, own, whereabouts),
      hasPodOnNode: own.some(isOnNode),
      topology: topologyOf(deployment.spec?.template?.metadata?.labels ?? labels),
    },
  }
  if (own.some(({ spec }) => spec.nodeName !== undefined)) placedByPod.set(deployment, { pods, parsed })
  return parsed
}

/**
 * OSDs whose own pods say where they are: nothing else has a say in what was read of them, and in a large cluster thousands stay as they
 * are from one snapshot to the next.
 */
const placedByPod = new WeakMap<Deployment, { readonly pods: readonly Pod[]; readonly parsed: ParsedOsd }>()

function isSameList(left: readonly Pod[], right: readonly Pod[]): boolean {
  return left === right || (left.length === right.length && left.every((pod, at) => pod === right[at]))
}

/** Finished pods hold up no drain; a terminating pod does until it is gone. */
function isOnNode({ spec, status }: Pod): boolean {
  return spec.nodeName !== undefined && status?.phase !== 'Succeeded' && status?.phase !== 'Failed'
}

/** Budgets select pods, so the labels of the pod template count. */
function topologyOf(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  let topology = topologies.get(labels)
  if (topology === undefined) {
    topology = Object.fromEntries(
      Object.entries(labels)
        .filter(([key, value]) => key.startsWith(topologyPrefix) && value !== '')
        .map(([key, value]) => [key.slice(topologyPrefix.length), value]),
    )
    topologies.set(labels, topology)
  }
  return topology
}

/** The labels of an OSD stay the same objects from snapshot to snapshot. */
const topologies = new WeakMap<Readonly<Record<string, string>>, Readonly<Record<string, string>>>()

/** What a Deployment and the pods of one OSD have in common. */
export function indexOfOsd({ metadata }: KubeObject): readonly string[] {
  return [`${metadata.namespace}/${metadata.labels?.['ceph-osd-id'] ?? metadata.labels?.['osd'] ?? ''}`]
}
