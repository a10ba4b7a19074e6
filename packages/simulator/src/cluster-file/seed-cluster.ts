import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Namespace, Node } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import {
  daemonSets,
  deployments,
  jobs,
  namespaces,
  nodes,
  podDisruptionBudgets,
  statefulSets,
} from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { buildMounts } from './build-longhorn.ts'
import { buildBudget, buildJob, buildWorkload } from './build-workloads.ts'
import type { ClusterDescription } from './cluster-file.ts'
import type { App } from './cluster-schema.ts'
import type { NodeDescription } from './expand-nodes.ts'
import { seedCeph } from './seed-ceph.ts'
import { seedLonghorn } from './seed-longhorn.ts'

interface Seed {
  readonly type: ResourceType
  readonly object: KubeObject
}

const workloadTypes: Readonly<Record<App['kind'], ResourceType>> = {
  Deployment: deployments,
  StatefulSet: statefulSets,
  DaemonSet: daemonSets,
}

/** Creates everything the description names. What is already there stays as it is. */
export async function seedCluster(api: KubeApi, description: ClusterDescription): Promise<void> {
  // Claims before the pods that mount them: a StatefulSet would make its own, without volumes.
  if (description.longhorn !== undefined) await seedLonghorn(api, description.longhorn)
  for (const { type, object } of buildSeeds(description)) {
    try {
      await api.create(type, object, { fieldManager: 'cofferdam-demo' })
    } catch (error) {
      if (!hasReason(error, 'AlreadyExists')) throw error
    }
  }
  if (description.ceph !== undefined) await seedCeph(api, description.ceph, description.pace)
}

/** All objects in an order in which they can be created: a budget before the pods it protects. */
export function buildSeeds({ nodes: machines, apps, jobs: batch, pace, longhorn }: ClusterDescription): Seed[] {
  const names = new Set([...apps, ...batch].map(({ namespace }) => namespace))
  const mounts = longhorn === undefined ? undefined : buildMounts(longhorn)
  const mountsOf = ({ namespace, name }: App) => mounts?.get(`${namespace}/${name}`)
  return [
    ...[...names].map((name) => ({ type: namespaces, object: buildNamespace(name) })),
    ...machines.map((machine) => ({ type: nodes, object: buildNode(machine) })),
    ...apps.flatMap((app) => {
      const budget = buildBudget(app)
      return budget === undefined ? [] : [{ type: podDisruptionBudgets, object: budget }]
    }),
    ...apps.map((app) => ({ type: workloadTypes[app.kind], object: buildWorkload(app, pace, mountsOf(app)) })),
    ...batch.map((job) => ({ type: jobs, object: buildJob(job) })),
  ]
}

function buildNamespace(name: string): Namespace {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
}

/** A node as it registers; what its kubelet reports by itself is left to the kubelet. */
export function buildNode(node: NodeDescription): Node {
  const { cpu, memory, pods } = node.capacity
  const resources = { cpu, memory, pods, 'ephemeral-storage': '100Gi' }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: node.name,
      labels: {
        ...node.labels,
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': node.name,
        'kubernetes.io/os': 'linux',
        ...Object.fromEntries(node.roles.map((role) => [`node-role.kubernetes.io/${role}`, ''])),
        'topology.kubernetes.io/zone': node.zone,
        ...(node.rack === undefined ? {} : { 'topology.rook.io/rack': node.rack }),
      },
    },
    spec: node.taints.length === 0 ? {} : { taints: node.taints.map(buildTaint) },
    status: { capacity: resources, allocatable: resources },
  }
}

function buildTaint({ key, value, effect }: NodeDescription['taints'][number]) {
  return { key, ...(value === undefined ? {} : { value }), effect }
}
