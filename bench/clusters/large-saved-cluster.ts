import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { configMaps, leases, nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import { buildDomainRecord } from '@cofferdam/product/capabilities/ceph-drain/domain/domain-record.ts'
import {
  type SavedCluster,
  type SavedKind,
  savedKind,
  savedVersion,
} from '@cofferdam/product/cli/snapshot/saved-cluster.ts'
import { savedKindRules } from '@cofferdam/product/cli/snapshot/saved-kinds.ts'
import { operatorAccount } from '@cofferdam/product/deploy/operator-manifests.ts'
import { disruptionPolicies } from '@cofferdam/product/shared/kinds/disruption-policy.ts'
import { recordNotes } from '@cofferdam/product/shared/record-notes.ts'

export const nodeCount = 5_000
const [osdCount, volumeCount, budgetCount] = [10_000, 10_000, 10_000]
/** In words, for a row of a table. */
export const sizeOfIt = '5,000 nodes, 10,000 OSDs, 10,000 volumes, 10,000 budgets'
/** So many have copies of Longhorn, and as many after them OSDs. */
export const storageNodes = 1_000
const takenAt = '2026-01-01T12:00:00Z'
export const nodeName = (at: number) => `node-${String(at).padStart(4, '0')}`
const rackOf = (at: number) => `rack-${at % 50}`
const condition = { type: 'Ready', status: 'True' as const }

/** A fifth of the nodes have copies of Longhorn, another fifth ten OSDs each; applications are everywhere. */
export function largeSavedCluster(random: Random): SavedCluster {
  const any = (count: number) => Math.floor(random.next() * count)
  const names = Array.from({ length: nodeCount }, (_, at) => nodeName(at))
  const appPods: Pod[] = []
  const budgets: KubeObject[] = []
  for (let at = 0; at < budgetCount; at += 1) {
    const [namespace, app] = [`team-${at % 100}`, `app-${at}`]
    for (let copy = 0; copy < 3; copy += 1) {
      appPods.push(podOf(namespace, `${app}-${copy}`, { app }, nodeName(any(nodeCount))))
    }
    budgets.push({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: app, namespace, uid: `pdb-${at}`, generation: 1 },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app } } },
      status: { observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3 },
    } as KubeObject)
  }
  const osdNode = (osd: number) => storageNodes + (osd % storageNodes)
  const osdPods = Array.from({ length: osdCount }, (_, osd) => {
    const labels = { app: 'rook-ceph-osd', osd: String(osd), 'topology-location-rack': rackOf(osdNode(osd)) }
    return podOf('rook-ceph', `rook-ceph-osd-${osd}`, labels, nodeName(osdNode(osd)))
  })
  const racks = new Map<string, { readonly nodes: Set<string>; readonly osds: number[] }>()
  for (let osd = 0; osd < osdCount; osd += 1) {
    const rack = racks.get(rackOf(osdNode(osd))) ?? { nodes: new Set(), osds: [] }
    rack.nodes.add(nodeName(osdNode(osd)))
    rack.osds.push(osd)
    racks.set(rackOf(osdNode(osd)), rack)
  }
  const domains = [...racks].map(([domain, { nodes: members, osds }]) => {
    const answer = { mayDrain: true, reason: 'SafeToDrain' as const, explanation: `rack ${domain} may be drained now.` }
    return { domain, osds, nodes: [...members], ...answer }
  })
  const items = new Map<ResourceType, readonly KubeObject[]>([
    [
      nodes,
      names.map((name, at) => ({
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, uid: name, labels: { 'topology.kubernetes.io/zone': `zone-${at % 3}` } },
        status: { conditions: [condition], nodeInfo: { bootID: name } },
      })),
    ],
    [pods, [...appPods, ...osdPods]],
    [podDisruptionBudgets, [...budgets, ...managerBudgets()]],
    [
      cephClusters,
      [
        {
          apiVersion: 'ceph.rook.io/v1',
          kind: 'CephCluster',
          metadata: { name: 'rook-ceph', namespace: 'rook-ceph', uid: 'ceph' },
        },
      ],
    ],
    [
      configMaps,
      [
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: {
            name: 'rook-ceph-pdbstatemap',
            namespace: 'rook-ceph',
            annotations: {
              [recordNotes.reason]: 'SafeToDrain',
              [recordNotes.failureDomainType]: 'rack',
              [recordNotes.domains]: buildDomainRecord(domains),
            },
          },
        },
      ],
    ],
    [
      leases,
      [
        {
          apiVersion: 'coordination.k8s.io/v1',
          kind: 'Lease',
          metadata: operatorAccount,
          spec: { holderIdentity: 'op-1', leaseDurationSeconds: 15, renewTime: takenAt.replace('Z', '.000000Z') },
        } as KubeObject,
      ],
    ],
    [
      disruptionPolicies,
      [
        {
          apiVersion: 'cofferdam.io/v1alpha1',
          kind: 'DisruptionPolicy',
          metadata: { name: 'cluster' },
          spec: { limits: [{ name: 'all', maxPercent: 10 }] },
        } as KubeObject,
      ],
    ],
    ...longhornObjects(any),
  ])
  const byName = new Map([...items].map(([type, list]) => [`${type.group}/${type.plural}`, list]))
  const kinds = savedKindRules(operatorAccount.namespace).map(({ type }): SavedKind => {
    const { group, version, plural } = type
    return { group, version, plural, state: 'read', items: byName.get(`${group}/${plural}`) ?? [] }
  })
  return { apiVersion: savedVersion, kind: savedKind, takenAt, server: 'https://example', kinds }
}

function podOf(namespace: string, name: string, labels: Readonly<Record<string, string>>, on: string): Pod {
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid: name, controller: true }]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, uid: `${namespace}/${name}`, labels, ownerReferences },
    spec: { nodeName: on, containers: [] },
    status: { phase: 'Running', conditions: [condition] },
  }
}

function managerBudgets(): readonly KubeObject[] {
  return Array.from({ length: storageNodes }, (_, at) => {
    const metadata = { name: `im-${nodeName(at)}`, namespace: 'longhorn-system', uid: `im-${at}` }
    const selector = { matchLabels: { 'longhorn.io/component': 'instance-manager', 'longhorn.io/node': nodeName(at) } }
    return {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata,
      spec: { minAvailable: 1, selector },
    } as KubeObject
  })
}

function longhornObjects(any: (count: number) => number): [ResourceType, readonly KubeObject[]][] {
  const namespace = 'longhorn-system'
  const rules = savedKindRules('').map(({ type }) => type)
  const typeOf = (plural: string) =>
    rules.find((type) => type.group === 'longhorn.io' && type.plural === plural) as ResourceType
  const object = (kind: string, name: string, rest: object) =>
    ({ apiVersion: 'longhorn.io/v1beta2', kind, metadata: { name, namespace }, ...rest }) as KubeObject
  const names = Array.from({ length: storageNodes }, (_, at) => nodeName(at))
  const volumes = Array.from({ length: volumeCount }, (_, at) => `pvc-${at}`)
  return [
    [typeOf('settings'), [object('Setting', 'node-drain-policy', { value: 'block-if-contains-last-replica' })]],
    [
      typeOf('nodes'),
      names.map((name) =>
        object('Node', name, {
          spec: { disks: { d: { evictionRequested: false } } },
          status: { diskStatus: { d: { diskUUID: `disk-${name}` } } },
        }),
      ),
    ],
    [
      typeOf('volumes'),
      volumes.map((name) =>
        object('Volume', name, {
          spec: { numberOfReplicas: 3 },
          status: { state: 'attached', robustness: 'healthy', actualSize: 1e9 },
        }),
      ),
    ],
    [
      typeOf('replicas'),
      volumes.flatMap((volumeName) => {
        const first = any(storageNodes)
        return [0, 1, 2].map((copy) => {
          const on = nodeName((first + copy * 331) % storageNodes)
          return object('Replica', `${volumeName}-r-${copy}`, {
            spec: {
              volumeName,
              active: true,
              nodeID: on,
              diskID: `disk-${on}`,
              healthyAt: takenAt,
              failedAt: '',
              desireState: 'running',
            },
            status: { currentState: 'running', instanceManagerName: `im-${on}` },
          })
        })
      }),
    ],
    [
      typeOf('instancemanagers'),
      names.map((name) =>
        object('InstanceManager', `im-${name}`, {
          spec: { nodeID: name, image: 'longhorn/longhorn-instance-manager:v1', type: 'aio', dataEngine: 'v1' },
          status: { currentState: 'running' },
        }),
      ),
    ],
  ]
}
