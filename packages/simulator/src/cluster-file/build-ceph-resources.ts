import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import {
  cephBlockPools,
  cephClusters,
  cephFilesystemMirrors,
  cephFilesystems,
  cephNfses,
  cephNvmeofGateways,
  cephObjectStores,
  cephRbdMirrors,
} from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { CephClusterDescription } from './describe-ceph.ts'
import type { RadosPool } from './rados-pool.ts'

export interface CephResource {
  readonly type: ResourceType
  readonly object: KubeObject
}

export const cephImage = 'registry.example/ceph/ceph:v19.2.3'

/** Pools whose names no object can have; Rook names them in the spec. */
const builtinNames: Readonly<Record<string, string>> = { '.mgr': 'builtin-mgr', '.nfs': 'builtin-nfs' }

export function buildCephCluster(ceph: CephClusterDescription): KubeObject {
  const storageNodes = [...new Set(ceph.osds.map(({ node }) => node))]
  return resource(ceph, cephClusters, ceph.name, {
    cephVersion: { image: cephImage },
    dataDirHostPath: '/var/lib/rook',
    mon: { count: ceph.monNodes.length, allowMultiplePerNode: false },
    mgr: { count: ceph.mgrs, allowMultiplePerNode: false },
    disruptionManagement: ceph.disruptionManagement,
    storage: { useAllNodes: false, useAllDevices: true, nodes: storageNodes.map((name) => ({ name })) },
  })
}

/** What Rook says of an object of its kinds that it has brought about. */
export function buildCephStatus({ kind, metadata, spec }: KubeObject & { readonly spec?: JsonObject }): JsonObject {
  const phase = 'Ready'
  switch (kind) {
    case 'CephCluster':
      return { phase, state: 'Created', message: 'Cluster created successfully' }
    case 'CephBlockPool': {
      const type = spec?.['erasureCoded'] === undefined ? 'Replicated' : 'Erasure Coded'
      return { phase, info: { type, failureDomain: spec?.['failureDomain'] ?? '' } }
    }
    case 'CephObjectStore':
      return { phase, info: { endpoint: `http://rook-ceph-rgw-${metadata.name}.${metadata.namespace}.svc:80` } }
    default:
      return { phase }
  }
}

/** Everything but the CephCluster itself. */
export function buildCephResources(ceph: CephClusterDescription): CephResource[] {
  const make = (type: ResourceType, name: string, spec: JsonObject) => ({
    type,
    object: resource(ceph, type, name, spec),
  })
  return [
    ...ceph.pools
      .filter(({ hasResource }) => hasResource)
      .map((pool) => {
        const builtin = builtinNames[pool.name]
        const named = builtin === undefined ? {} : { name: pool.name }
        return make(cephBlockPools, builtin ?? pool.name, { ...named, ...poolSpec(pool) })
      }),
    ...ceph.filesystems.map(({ name, active, standby, ...pool }) =>
      make(cephFilesystems, name, {
        metadataPool: ownPoolSpec(pool),
        dataPools: [{ name: 'replicated', ...ownPoolSpec(pool) }],
        metadataServer: { activeCount: active, activeStandby: standby },
      }),
    ),
    ...ceph.objectStores.map(({ name, instances, ...pool }) =>
      make(cephObjectStores, name, {
        metadataPool: ownPoolSpec(pool),
        dataPool: ownPoolSpec(pool),
        gateway: { port: 80, instances },
      }),
    ),
    ...(ceph.rbdMirrors === 0 ? [] : [make(cephRbdMirrors, rbdMirrorName, { count: ceph.rbdMirrors })]),
    ...ceph.nfs.map(({ name, active }) => make(cephNfses, name, { server: { active } })),
    ...ceph.nvmeof.map(({ name, instances }) => make(cephNvmeofGateways, name, { pool: name, group: name, instances })),
    ...(ceph.filesystemMirrors === 0 ? [] : [make(cephFilesystemMirrors, filesystemMirrorName, {})]),
  ]
}

export const rbdMirrorName = 'my-rbd-mirror'
export const filesystemMirrorName = 'my-fs-mirror'

function resource(
  { namespace }: CephClusterDescription,
  { group, version, kind }: ResourceType,
  name: string,
  spec: JsonObject,
): KubeObject {
  const object = { apiVersion: `${group}/${version}`, kind, metadata: { name, namespace }, spec }
  return object
}

function poolSpec({ kind, size, minSize, dataChunks, failureDomain }: RadosPool): JsonObject {
  const parameters = { min_size: String(minSize) }
  if (kind === 'replicated') return { failureDomain, replicated: { size }, parameters }
  const chunks = dataChunks ?? size
  return { failureDomain, erasureCoded: { dataChunks: chunks, codingChunks: size - chunks }, parameters }
}

function ownPoolSpec({ size, failureDomain }: Pick<RadosPool, 'size' | 'failureDomain'>): JsonObject {
  return { failureDomain, replicated: { size } }
}
