import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { ObjectMeta, OwnerReference } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { StorageView } from '../../shared/storage-view.ts'

export const now = '2026-01-01T12:00:00Z'
export const earlier = '2026-01-01T11:50:00Z'

interface PodFacts {
  readonly namespace?: string
  readonly node?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly isReady?: boolean
  /** Undefined: made by hand. */
  readonly ownerKind?: string | undefined
  readonly metadata?: Partial<ObjectMeta>
  readonly spec?: Partial<Pod['spec']>
  readonly status?: Pod['status']
}

const ownedBy = (kind: string, name: string): OwnerReference => ({
  apiVersion: kind === 'CephCluster' ? 'ceph.rook.io/v1' : 'apps/v1',
  kind,
  name,
  uid: `uid-${name}`,
  controller: true,
})

/** A running pod of a ReplicaSet in namespace shop, labelled with the first word of its name. */
export function pod(name: string, facts: PodFacts = {}): Pod {
  const app = name.split('-')[0] as string
  const { namespace = 'shop', node = 'worker-a1', labels = { app }, isReady = true } = facts
  const ownerKind = Object.hasOwn(facts, 'ownerKind') ? facts.ownerKind : 'ReplicaSet'
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace,
      name,
      labels,
      ...(ownerKind === undefined ? {} : { ownerReferences: [ownedBy(ownerKind, app)] }),
      ...facts.metadata,
    },
    spec: { nodeName: node, containers: [{ name: 'main' }], ...facts.spec },
    status: facts.status ?? {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: earlier }],
    },
  }
}

type Counts = Partial<NonNullable<PodDisruptionBudget['status']>>

/** A counted budget of namespace shop over the pods labelled with its name: `at most one down`, and none is. */
export function budget(
  name: string,
  counts: Counts = {},
  {
    spec = { maxUnavailable: 1 },
    metadata = {},
  }: { readonly spec?: PodDisruptionBudget['spec']; readonly metadata?: Partial<ObjectMeta> } = {},
): PodDisruptionBudget {
  const allowed = counts.disruptionsAllowed ?? 1
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { namespace: 'shop', name, generation: 1, ...metadata },
    spec: { selector: { matchLabels: { app: name } }, ...spec },
    status: {
      observedGeneration: 1,
      disruptionsAllowed: 1,
      currentHealthy: 3,
      desiredHealthy: 2,
      expectedPods: 3,
      conditions: [
        { type: 'DisruptionAllowed', status: allowed > 0 ? 'True' : 'False', lastTransitionTime: earlier, message: '' },
      ],
      ...counts,
    },
  }
}

export function node(name: string, facts: { readonly isReady?: boolean; readonly spec?: Node['spec'] } = {}): Node {
  const { isReady = true, spec = {} } = facts
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    spec,
    status: {
      conditions: [
        isReady
          ? { type: 'Ready', status: 'True', reason: 'KubeletReady', lastTransitionTime: earlier }
          : { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', lastTransitionTime: earlier },
      ],
    },
  }
}

/** An OSD pod as Rook labels it: `osdPod(0, { zone: 'zone-x', node: 'node-a' })`. */
export function osdPod(id: number, { zone, node: place }: { readonly zone: string; readonly node: string }): Pod {
  const labels = { app: 'rook-ceph-osd', 'ceph-osd-id': `${id}`, osd: `${id}`, 'topology-location-zone': zone }
  return pod(`rook-ceph-osd-${id}`, { namespace: 'rook-ceph', node: place, labels })
}

/** A budget that a CephCluster owns; it blocks a zone, or lets one OSD of all go. */
export function osdBudget(zone?: string, counts: Counts = {}): PodDisruptionBudget {
  const metadata = { namespace: 'rook-ceph', ownerReferences: [ownedBy('CephCluster', 'rook-ceph')] }
  if (zone === undefined) {
    const selector = { matchExpressions: [{ key: 'app', operator: 'In' as const, values: ['rook-ceph-osd'] }] }
    return budget('rook-ceph-osd', counts, { spec: { maxUnavailable: 1, selector }, metadata })
  }
  const blocking = { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2, expectedPods: 2, ...counts }
  const selector = { matchLabels: { 'topology-location-zone': zone } }
  return budget(`rook-ceph-osd-zone-${zone}`, blocking, { spec: { maxUnavailable: 0, selector }, metadata })
}

export function storageView(facts: Partial<StorageView> = {}): StorageView {
  return {
    namespace: 'rook-ceph',
    name: 'rook-ceph',
    source: 'record',
    reason: 'DomainOpen',
    explanation: 'zone-x is being drained; the others wait',
    since: earlier,
    failureDomainType: 'zone',
    isAttended: true,
    domains: [],
    openDomains: ['zone-x'],
    noout: ['zone-x'],
    problems: [],
    ...facts,
  }
}
