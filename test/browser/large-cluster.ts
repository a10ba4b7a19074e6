import { resolve } from 'node:path'
import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { Json } from '@cofferdam/kubernetes/api/json.ts'
import { namespaces, nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { createExplainForPage } from '@cofferdam/product/cli/dashboard/explain-for-page.ts'
import { rehearseNodes } from '@cofferdam/product/cli/observe/rehearse-nodes.ts'
import { startDashboard } from '@cofferdam/product/dashboard/server/start-dashboard.ts'
import { capabilities, shownOf } from '@cofferdam/product/operator/capabilities.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'

const zones = ['a', 'b', 'c', 'd', 'e']
const osdsOnNode = 10

export interface LargeCluster {
  readonly url: string
  readonly api: KubeApi
  stop(): Promise<void>
}

/** The page of a cluster whose objects stand still until a test changes them: 1,000 nodes with 10,000 OSDs and 5,000 other pods. */
export async function openLargeCluster(nodeCount = 1_000): Promise<LargeCluster> {
  const random = seededRandom(1)
  const server = new ApiServer({ clock: realClock, random })
  const api = server.as(clusterAdmin)
  for (const name of ['rook-ceph', 'shop']) {
    await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
  for (let at = 0; at < nodeCount; at += 1) {
    const { status, metadata, ...rest } = node(at)
    await api.create(nodes, { metadata, ...rest })
    await api.patch(
      nodes,
      { name: metadata.name },
      { type: 'merge', body: { status: status as Json } },
      { subresource: 'status' },
    )
    for (let osd = 0; osd < osdsOnNode; osd += 1) await runPod(api, osdPod(at, at * osdsOnNode + osd))
    for (let app = 0; app < 5; app += 1) await runPod(api, appPod(at, app))
  }
  await api.create(podDisruptionBudgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { namespace: 'shop', name: 'web' },
    spec: { maxUnavailable: 10, selector: { matchLabels: { app: 'web' } } },
  })
  const counted = { observedGeneration: 1, disruptionsAllowed: 10, currentHealthy: 5_000, desiredHealthy: 4_990 }
  await api.patch(
    podDisruptionBudgets,
    { namespace: 'shop', name: 'web' },
    { type: 'merge', body: { status: { ...counted, expectedPods: 5_000 } } },
    { subresource: 'status' },
  )
  const dashboard = await startDashboard({
    api,
    clock: realClock,
    random,
    port: 0,
    pageDirectory: resolve(import.meta.dirname, '../../dist/page'),
    shown: shownOf(capabilities),
    rehearse: rehearseNodes,
    explain: createExplainForPage({ api, clock: realClock, leaseNamespace: 'cofferdam-system' }),
    cluster: 'large',
  })
  return { url: dashboard.url, api, stop: () => dashboard.close() }
}

async function runPod(api: KubeApi, { status, ...pod }: Pod): Promise<void> {
  const { namespace = '', name } = pod.metadata
  await api.create(pods, pod)
  await api.patch(
    pods,
    { namespace, name },
    { type: 'merge', body: { status: status as Json } },
    { subresource: 'status' },
  )
}

export const nameOf = (at: number) => `worker-${zones[at % zones.length]}${Math.floor(at / zones.length)}`

function node(at: number): Node {
  const isDown = at === 500
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: nameOf(at),
      labels: {
        'topology.kubernetes.io/zone': zones[at % zones.length] as string,
        'node-role.kubernetes.io/worker': '',
      },
    },
    spec: at === 300 ? { unschedulable: true } : {},
    status: {
      capacity: { cpu: '32', memory: '256Gi' },
      conditions: [
        {
          type: 'Ready',
          status: isDown ? 'Unknown' : 'True',
          reason: isDown ? 'NodeStatusUnknown' : 'KubeletReady',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    },
  }
}

function osdPod(at: number, osd: number): Pod {
  const labels = {
    app: 'rook-ceph-osd',
    'ceph-osd-id': String(osd),
    'topology-location-zone': zones[at % zones.length] as string,
  }
  return podOn(at, { namespace: 'rook-ceph', name: `rook-ceph-osd-${osd}-7d67b4bd95-mb6gg`, labels })
}

function appPod(at: number, app: number): Pod {
  return podOn(at, { namespace: 'shop', name: `web-${at}-${app}`, labels: { app: 'web' } })
}

function podOn(at: number, metadata: Pod['metadata']): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { nodeName: nameOf(at), containers: [{ name: 'main', image: 'registry.example/main:1' }] },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    },
  }
}
