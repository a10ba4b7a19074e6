import type { Deployment, Job } from '@cofferdam/kubernetes/api/apps.ts'
import type { ConfigMap, Node } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { buildOsdDeployment } from '../build-osd-deployment.ts'
import { buildPrepareJob, buildStartingStatus } from '../build-prepare-job.ts'
import type { GrowthPlace } from '../growth-places.ts'

export const rookImage = 'rook:1'
export const uuidOf = (id: number) => `00000000-0000-4000-8000-00000000000${id}`

/** All nodes are to have OSDs. */
export const growingCluster = (facts: Partial<CephCluster['metadata']> = {}): CephCluster => ({
  apiVersion: 'ceph.rook.io/v1',
  kind: 'CephCluster',
  metadata: { namespace: 'rook-ceph', name: 'rook-ceph', uid: 'uid-1', generation: 2, ...facts },
  spec: { cephVersion: { image: 'ceph:1' }, storage: { useAllNodes: true, useAllDevices: true } },
})

export const node = (name: string): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'kubernetes.io/hostname': name } },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
})

const placeOf = (name: string, asked: string): GrowthPlace => ({ name, asked })
const run = (place: string) => ({ rookImage, nonce: `of ${place}` })

/** The prepare Job of a place, which ended well unless told. */
export function prepareJob(place: string, { asked = '2', ended = 'Complete' } = {}): Job {
  const job = buildPrepareJob(growingCluster(), placeOf(place, asked), run(place))
  return { ...job, status: { conditions: [{ type: ended, status: 'True' }] } }
}

/** What the prepare Job of a place reports: OSDs with these ids. */
export function prepareResult(
  place: string,
  ids: readonly number[],
  { asked = '2', status = 'completed' } = {},
): ConfigMap {
  const osds = ids.map((id) => ({ id, uuid: uuidOf(id) }))
  const map = buildStartingStatus(growingCluster(), placeOf(place, asked), run(place))
  return { ...map, data: { status: JSON.stringify({ status, osds }) } }
}

export const osdOf = (id: number, place: string): Deployment =>
  buildOsdDeployment(growingCluster(), { id, node: place, location: { host: place } })
