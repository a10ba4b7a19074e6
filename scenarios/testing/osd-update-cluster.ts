import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { CephClusterDescription } from '@cofferdam/simulator/cluster-file/describe-ceph.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'

export const namespace = 'rook-ceph'
export const cluster = { namespace, name: 'rook-ceph' }

/** What the cluster is made of whose OSDs are updated. */
export interface UpdateClusterOptions {
  readonly storage?: number
  readonly osdsPerNode?: number
  readonly pgs?: number
  readonly domain?: 'host' | 'zone'
  /** Erasure-coded instead of three copies. */
  readonly erasure?: { readonly dataChunks: number; readonly codingChunks: number }
  /** Copies of the pool, and how many of them clients need. */
  readonly copies?: { readonly size: number; readonly minSize: number }
  readonly readySeconds?: number
  readonly outAfterSeconds?: number
  readonly recoveryPgsPerSecond?: number
}

export function clusterFile(options: UpdateClusterOptions): string {
  const { storage = 6, osdsPerNode = 2, pgs = 12, domain = 'host', erasure, copies, readySeconds = 8 } = options
  const zones = ['zone-a', 'zone-b', 'zone-c']
  const group = (called: string, count: number) =>
    Array.from({ length: count }, (_, index) => `{ name: ${called}-${index + 1}, zone: ${zones[index % 3]} }`)
  const osdNodes = Array.from({ length: storage }, (_, index) => `storage-${index + 1}`)
  const kind =
    erasure === undefined
      ? copies === undefined
        ? ''
        : `, replicated: { size: ${copies.size}, minSize: ${copies.minSize} }`
      : `, erasure: { dataChunks: ${erasure.dataChunks}, codingChunks: ${erasure.codingChunks} }`
  return `
pace: { readyAfterSeconds: ${readySeconds}, terminationSeconds: 2 }
zones: [${zones.map((zone) => `{ name: ${zone} }`).join(', ')}]
nodes: [${[...group('control', 3), ...group('storage', storage)].join(', ')}]
ceph:
  namespace: ${namespace}
  name: ${cluster.name}
  osds: { perNode: ${osdsPerNode}, nodes: [${osdNodes.join(', ')}] }
  pools: [{ name: data, failureDomain: ${domain}, pgs: ${pgs}${kind} }]
  pace: { recoveryPgsPerSecond: ${options.recoveryPgsPerSecond ?? 8}, outAfterSeconds: ${options.outAfterSeconds ?? 600} }
`
}

export function disksOf({ osds, deviceClass }: CephClusterDescription) {
  const disks: Record<string, { name: string; osd: number; deviceClass: string }[]> = {}
  for (const { id, node } of osds) {
    const own = disks[node] ?? []
    disks[node] = [...own, { name: `osd${own.length}`, osd: id, deviceClass }]
  }
  return disks
}

/** Nodes keep their hostname labels, and workloads are pinned by those. */
export function withNodeSuffix(api: KubeApi, suffix: string): KubeApi {
  return changedApi(api, {
    create: (type, object, given) =>
      type.plural === nodes.plural
        ? api.create(type, { ...object, metadata: { ...object.metadata, name: object.metadata.name + suffix } }, given)
        : api.create(type, object, given),
  })
}
