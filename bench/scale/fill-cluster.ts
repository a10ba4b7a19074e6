import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { Json } from '@cofferdam/kubernetes/api/json.ts'
import {
  longhornInstanceManagers,
  longhornNodes,
  longhornReplicas,
  longhornSettings,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, type ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import {
  customResourceDefinitions,
  daemonSets,
  deployments,
  namespaces,
  nodes,
  podDisruptionBudgets,
  pods,
} from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { CephClusterDescription } from '@cofferdam/simulator/cluster-file/describe-ceph.ts'
import { longhornDefinitions } from '@cofferdam/simulator/cluster-file/longhorn-definitions.ts'
import { seedCeph } from '@cofferdam/simulator/cluster-file/seed-ceph.ts'
import { buildManagerDaemonSet } from '@cofferdam/simulator/world/longhorn/manager-daemon-set.ts'

export interface ClusterSize {
  readonly nodes: number
  readonly pods: number
  readonly osds: number
  readonly volumes: number
  readonly budgets: number
}

/** A fifth of the nodes have OSDs, another fifth copies of Longhorn; applications are everywhere. */
export function placesOf(size: ClusterSize) {
  const fifth = size.nodes / 5
  const names = Array.from({ length: size.nodes }, (_, at) => nodeName(at))
  return {
    all: names,
    ofOsds: names.slice(0, fifth),
    ofLonghorn: names.slice(fifth, 2 * fifth),
    ofApplicationsOnly: names.slice(2 * fifth),
  }
}

const longhornNamespace = 'longhorn-system'
const longhorn = { apiVersion: 'longhorn.io/v1beta2' }
const since = '2026-01-01T00:00:00Z'
const ready = { type: 'Ready', status: 'True', lastTransitionTime: since }
const copies = 3
const zones = ['a', 'b', 'c']
const nodeName = (at: number) => `node-${String(at).padStart(4, '0')}`
export const zoneOf = (at: number) => zones[at % zones.length] as string

/** Everything that stands in the cluster before the operator comes, as the API server of a large company would have it. */
export async function fillCluster(api: KubeApi, size: ClusterSize, ceph: CephClusterDescription): Promise<void> {
  const places = placesOf(size)
  for (const [at, name] of places.all.entries()) await addNode(api, name, zoneOf(at))
  await addApplications(api, size)
  await seedCeph(api, ceph, { terminationSeconds: 1 } as Parameters<typeof seedCeph>[2])
  await addCephPods(api, ceph)
  await addToolboxPod(api, ceph.namespace)
  await addLonghorn(api, size, places.ofLonghorn)
}

export async function addNode(api: KubeApi, name: string, zone: string): Promise<void> {
  const labels = { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': zone }
  await addWithStatus(
    api,
    nodes,
    { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } },
    {
      capacity: { cpu: '64', memory: '512Gi', pods: '110' },
      conditions: [ready],
      nodeInfo: { bootID: name, kubeletVersion: 'v1.36.4' },
    },
  )
}

/** Beside OSDs there are two pods of Longhorn on each of its nodes; all others are of applications. */
export function copiesPerApplication({ pods: all, osds, nodes: count, budgets }: ClusterSize): number {
  return Math.floor((all - osds - (2 * count) / 5) / budgets)
}

const teams = 100
/** The application of this number, whose budget has its name. */
export const applicationKey = (at: number) => ({ namespace: `team-${at % teams}`, name: `app-${at}` })

async function addApplications(api: KubeApi, size: ClusterSize): Promise<void> {
  const expectedPods = copiesPerApplication(size)
  for (let team = 0; team < teams; team += 1) await addNamespace(api, `team-${team}`)
  for (let at = 0; at < size.budgets; at += 1) {
    for (let copy = 0; copy < expectedPods; copy += 1) await addApplicationPod(api, size, { at, copy, revision: 0 })
    const { name } = applicationKey(at)
    const counts = { currentHealthy: expectedPods, desiredHealthy: expectedPods - 1, expectedPods }
    await addWithStatus(
      api,
      podDisruptionBudgets,
      {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: applicationKey(at),
        spec: { maxUnavailable: 1, selector: { matchLabels: { app: name } } },
      },
      { observedGeneration: 1, disruptionsAllowed: 1, ...counts },
    )
  }
}

export interface ApplicationCopy {
  readonly at: number
  readonly copy: number
  /** Grows with each rollout. */
  readonly revision: number
}

export function applicationPodKey({ at, copy, revision }: ApplicationCopy) {
  const { namespace, name } = applicationKey(at)
  return { namespace, name: `${name}-${hashOf(revision)}-${copy}` }
}

const hashOf = (revision: number) => `6c9f7d5b${revision + 8}`

export function addApplicationPod(api: KubeApi, size: ClusterSize, one: ApplicationCopy): Promise<void> {
  // A prime number apart, so that no two copies share a node.
  const place = (one.at * copiesPerApplication(size) + (one.copy + one.revision) * 1_009) % size.nodes
  return addPod(api, applicationPod(one, nodeName(place)))
}

/** With three containers, as the pods of a busy cluster have them: an application, its proxy and an agent. */
function applicationPod(one: ApplicationCopy, node: string): Pod {
  const { name: app } = applicationKey(one.at)
  const hash = hashOf(one.revision)
  const containers = ['app', 'proxy', 'agent'].map((name) => ({
    name,
    image: `registry.example/${name}:1.2.3`,
    env: Array.from({ length: 8 }, (_, line) => ({ name: `VARIABLE_${line}`, value: `${app}-${one.copy}-${line}` })),
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
  }))
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...applicationPodKey(one),
      labels: { app, 'pod-template-hash': hash },
      ownerReferences: [owner('ReplicaSet', `${app}-${hash}`)],
    },
    spec: { nodeName: node, containers } as Pod['spec'],
  }
}

async function addCephPods(api: KubeApi, { namespace, monNodes }: CephClusterDescription): Promise<void> {
  const { items } = await api.list(deployments, { namespace })
  for (const [at, deployment] of items.entries()) {
    const { name } = deployment.metadata
    const node = hostOf(deployment) ?? monNodes[at % monNodes.length]
    const { metadata, spec } = deployment.spec.template
    const labels = { ...metadata?.labels, 'pod-template-hash': '7d67b4bd95' }
    await addPod(api, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        namespace,
        name: `${name}-7d67b4bd95-x`,
        labels,
        ownerReferences: [owner('ReplicaSet', `${name}-7d67b4bd95`)],
      },
      spec: { ...spec, nodeName: node } as Pod['spec'],
    })
    const one = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, observedGeneration: 1 }
    await api.patch(
      deployments,
      { namespace, name },
      { type: 'merge', body: { status: one } },
      { subresource: 'status' },
    )
  }
}

function hostOf({ spec }: Deployment): string | undefined {
  return spec.template.spec.nodeSelector?.['kubernetes.io/hostname']
}

async function addToolboxPod(api: KubeApi, namespace: string): Promise<void> {
  const name = 'rook-ceph-tools'
  await addPod(api, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace,
      name: `${name}-5f7-x`,
      labels: { app: name, 'pod-template-hash': '5f7' },
      ownerReferences: [owner('ReplicaSet', `${name}-5f7`)],
    },
    spec: { nodeName: nodeName(0), containers: [{ name, image: 'registry.example/ceph:19' }] },
  })
}

async function addLonghorn(api: KubeApi, size: ClusterSize, places: readonly string[]): Promise<void> {
  for (const definition of longhornDefinitions()) await api.create(customResourceDefinitions, definition)
  await addNamespace(api, longhornNamespace)
  const named = (name: string) => ({ namespace: longhornNamespace, name })
  await api.create(longhornSettings, {
    ...longhorn,
    kind: 'Setting',
    metadata: { ...named('node-drain-policy'), annotations: { 'cofferdam.io/manage': 'hold' } },
    value: 'block-if-contains-last-replica',
  })
  const managers = buildManagerDaemonSet(longhornNamespace)
  await api.create(daemonSets, managers)
  for (const name of places) {
    await addPod(api, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...named(`longhorn-manager-${name}`),
        labels: managers.spec.template.metadata?.labels ?? {},
        ownerReferences: [owner('DaemonSet', managers.metadata.name)],
      },
      spec: { ...managers.spec.template.spec, nodeName: name } as Pod['spec'],
    })
    const disks = { d: { path: '/var/lib/longhorn', allowScheduling: true } }
    const diskStatus = { d: { diskUUID: `disk-${name}`, storageAvailable: 1e12, storageMaximum: 1e12 } }
    const node = { ...longhorn, kind: 'Node', metadata: named(name), spec: { allowScheduling: true, disks } }
    await addWithStatus(api, longhornNodes as ResourceType, node, { conditions: [ready], diskStatus })
    const spec = { nodeID: name, image: 'registry.example/instance-manager:1', type: 'aio', dataEngine: 'v1' }
    const manager = { ...longhorn, kind: 'InstanceManager', metadata: named(`im-${name}`), spec }
    await addWithStatus(api, longhornInstanceManagers as ResourceType, manager, { currentState: 'running' })
    await addPod(api, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...named(`im-${name}`),
        labels: { 'longhorn.io/component': 'instance-manager', 'longhorn.io/node': name },
        ownerReferences: [{ ...owner('InstanceManager', `im-${name}`), apiVersion: longhorn.apiVersion }],
      },
      spec: { nodeName: name, containers: [{ name: 'instance-manager', image: spec.image }] },
    })
  }
  for (let at = 0; at < size.volumes; at += 1) {
    const volumeName = `pvc-${at}`
    const volume = {
      ...longhorn,
      kind: 'Volume',
      metadata: named(volumeName),
      spec: { numberOfReplicas: copies, size: '10737418240' },
    }
    const status = { state: 'attached', robustness: 'healthy', actualSize: 1e9 }
    await addWithStatus(api, longhornVolumes as ResourceType, volume, status)
    for (let copy = 0; copy < copies; copy += 1) {
      const nodeID = places[(at * copies + copy * 7) % places.length] as string
      const name = `${volumeName}-r-${copy}`
      const replica = {
        ...longhorn,
        kind: 'Replica',
        metadata: named(name),
        spec: {
          volumeName,
          nodeID,
          diskID: `disk-${nodeID}`,
          active: true,
          dataDirectoryName: name,
          healthyAt: since,
          failedAt: '',
          desireState: 'running',
        },
      }
      const running = { currentState: 'running', instanceManagerName: `im-${nodeID}` }
      await addWithStatus(api, longhornReplicas as ResourceType, replica, running)
    }
  }
}

function owner(kind: string, name: string) {
  return { apiVersion: 'apps/v1', kind, name, uid: `uid-${name}`, controller: true }
}

function addNamespace(api: KubeApi, name: string) {
  return api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
}

function addPod(api: KubeApi, pod: Pod): Promise<void> {
  const containerStatuses = pod.spec.containers.map(({ name, image = '' }) => ({
    name,
    image,
    imageID: image,
    ready: true,
    restartCount: 0,
    state: { running: { startedAt: since } },
  }))
  const conditions = ['Initialized', 'ContainersReady', 'PodScheduled', 'Ready'].map((type) => ({ ...ready, type }))
  return addWithStatus(api, pods as ResourceType, pod, { phase: 'Running', conditions, containerStatuses })
}

async function addWithStatus(
  api: KubeApi,
  type: ResourceType,
  object: KubeObject & { readonly spec?: unknown },
  status: Json,
): Promise<void> {
  await api.create(type, object)
  await api.patch(type, keyOf(object), { type: 'merge', body: { status } }, { subresource: 'status' })
}
