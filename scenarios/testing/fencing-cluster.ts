/** What the clusters of the stories are made of; every one of them is written as a cluster file. */
export interface FencedClusterShape {
  readonly storage?: number
  readonly compute?: number
  readonly osdsPerNode?: number
  /** What copies are spread over. With `zone`, storage nodes go round three zones. */
  readonly domain?: 'host' | 'zone'
  readonly recoveryPgsPerSecond?: number
  readonly outAfterSeconds?: number
  /** How long OSDs that went with their node are kept from being rebuilt elsewhere. */
  readonly maintenanceMinutes?: number
  /** Where mons are. Default `control`. */
  readonly monsOn?: 'control' | 'storage'
}

const zones = ['zone-a', 'zone-b', 'zone-c']

/** Three nodes for mons and whatever else has to live, nodes with OSDs, and nodes without. */
export function clusterFile(shape: FencedClusterShape, namespace = 'rook-ceph', name = namespace): string {
  const { storage = 4, compute = 0, osdsPerNode = 1, domain = 'host', outAfterSeconds = 600 } = shape
  const group = (called: string, count: number) =>
    Array.from({ length: count }, (_, index) => `{ name: ${called}-${index + 1}, zone: ${zones[index % 3]} }`)
  const first = [group('control', 3), group('storage', storage)]
  const nodes = [...(shape.monsOn === 'storage' ? first.reverse() : first).flat(), ...group('compute', compute)]
  return `
pace: { readyAfterSeconds: 3, terminationSeconds: 2 }
zones: [${zones.map((zone) => `{ name: ${zone} }`).join(', ')}]
nodes: [${nodes.join(', ')}]
ceph:
  namespace: ${namespace}
  name: ${name}
  osds: { perNode: ${osdsPerNode}, nodes: [${storageNodes(storage).join(', ')}] }
  pools: [{ name: replicapool, failureDomain: ${domain}, pgs: 16 }, { name: .mgr, failureDomain: ${domain}, pgs: 1 }]
  disruptionManagement: { osdMaintenanceTimeout: ${shape.maintenanceMinutes ?? 30} }
  pace: { recoveryPgsPerSecond: ${shape.recoveryPgsPerSecond ?? 4}, outAfterSeconds: ${outAfterSeconds} }
`
}

export function storageNodes(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `storage-${index + 1}`)
}

export function computeNodes(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `compute-${index + 1}`)
}
