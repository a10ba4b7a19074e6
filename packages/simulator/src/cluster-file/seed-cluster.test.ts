import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { namespaces, nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { describe, expect, it } from 'vitest'
import { ApiServer } from '../api-server/api-server.ts'
import { clusterAdmin } from '../api-server/user-info.ts'
import { VirtualClock } from '../harness/virtual-clock.ts'
import { buildBudget, buildJob, buildWorkload } from './build-workloads.ts'
import { parseClusterFile } from './cluster-file.ts'
import { buildNode, buildSeeds, seedCluster } from './seed-cluster.ts'

const described = (rest: string) => parseClusterFile(`zones: [{ name: a, racks: [r1] }]\n${rest}`, 'test.yaml')
const withApp = (fields: string) => {
  const { apps, pace } = described(`nodes: [{ name: n1 }]\napps: [{ name: web, namespace: shop, ${fields} }]`)
  return { app: apps[0] as (typeof apps)[number], pace }
}
const template = (fields: string) => {
  const { app, pace } = withApp(fields)
  return buildWorkload(app, pace).spec.template
}

describe('a node', () => {
  it('carries its place, its roles and what it has', () => {
    const { nodes: machines } = described(`
nodes:
  - name: n1
    roles: [worker]
    labels: { disk: ssd, kubernetes.io/hostname: lie }
    taints: [{ key: dedicated, value: db, effect: NoSchedule }, { key: gpu, effect: NoExecute }]
    capacity: { cpu: 4, memory: 8Gi, pods: 20 }`)
    const resources = { cpu: '4', memory: '8Gi', pods: '20', 'ephemeral-storage': '100Gi' }
    expect(machines.map(buildNode)).toEqual([
      {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: {
          name: 'n1',
          labels: {
            disk: 'ssd',
            'kubernetes.io/arch': 'amd64',
            'kubernetes.io/hostname': 'n1',
            'kubernetes.io/os': 'linux',
            'node-role.kubernetes.io/worker': '',
            'topology.kubernetes.io/zone': 'a',
            'topology.rook.io/rack': 'r1',
          },
        },
        spec: {
          taints: [
            { key: 'dedicated', value: 'db', effect: 'NoSchedule' },
            { key: 'gpu', effect: 'NoExecute' },
          ],
        },
        status: { capacity: resources, allocatable: resources },
      },
    ])
  })
})

describe('an app', () => {
  it('is a Deployment unless it says otherwise', () => {
    const { app, pace } = withApp('replicas: 2, labels: { tier: front }, requests: { cpu: 100m }')
    expect(buildWorkload(app, pace)).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'shop', labels: { tier: 'front', app: 'web' } },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { tier: 'front', app: 'web' } },
          spec: {
            containers: [
              { name: 'web', image: 'registry.example/web:1.0.0', resources: { requests: { cpu: '100m' } } },
            ],
            terminationGracePeriodSeconds: 2,
          },
        },
      },
    } satisfies Deployment)
  })

  it('that is a StatefulSet names its service, and a DaemonSet has no replicas', () => {
    const stateful = withApp('kind: StatefulSet')
    expect(buildWorkload(stateful.app, stateful.pace).spec).toMatchObject({ replicas: 1, serviceName: 'web' })
    const daemon = withApp('kind: DaemonSet')
    expect(Object.keys(buildWorkload(daemon.app, daemon.pace).spec)).toEqual(['selector', 'template'])
  })

  it('spread by zone goes evenly over zones and hosts, as far as it can', () => {
    const evenly = {
      maxSkew: 1,
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels: { app: 'web' } },
    }
    expect(template('spread: zone').spec.topologySpreadConstraints).toEqual([
      { ...evenly, topologyKey: 'topology.kubernetes.io/zone' },
      { ...evenly, topologyKey: 'kubernetes.io/hostname' },
    ])
  })

  it('spread by host never puts two on one', () => {
    expect(template('spread: host').spec.affinity).toEqual({
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { labelSelector: { matchLabels: { app: 'web' } }, topologyKey: 'kubernetes.io/hostname' },
        ],
      },
    })
  })

  it('that runs everywhere tolerates every taint', () => {
    expect(template('kind: DaemonSet, everywhere: true').spec.tolerations).toEqual([{ operator: 'Exists' }])
  })

  it('that skips drains says so, and outlives a reboot of its node', () => {
    const { metadata, spec } = template('skipDrain: true, readyAfterSeconds: 5')
    expect(metadata?.annotations).toEqual({
      'cofferdam.io/ready-after-seconds': '5',
      'cofferdam.io/skip-drain': 'true',
    })
    const patient = { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1_800 }
    expect(spec.tolerations).toEqual([
      { key: 'node.kubernetes.io/not-ready', ...patient },
      { key: 'node.kubernetes.io/unreachable', ...patient },
    ])
    expect(template('skipDrain: true, everywhere: true').spec.tolerations).toEqual([{ operator: 'Exists' }])
  })

  it('may start and stop at its own pace, and choose its nodes', () => {
    const { metadata, spec } = template('readyAfterSeconds: 7.5, terminationSeconds: 9, nodeSelector: { disk: ssd }')
    expect(metadata?.annotations).toEqual({ 'cofferdam.io/ready-after-seconds': '7.5' })
    expect(spec).toMatchObject({ terminationGracePeriodSeconds: 9, nodeSelector: { disk: 'ssd' } })
  })

  it('has a budget of its own name, and none unless it asks', () => {
    expect(buildBudget(withApp('replicas: 1').app)).toBeUndefined()
    expect(buildBudget(withApp('pdb: { maxUnavailable: 25%, unhealthyPodEvictionPolicy: AlwaysAllow }').app)).toEqual({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' } },
      spec: {
        selector: { matchLabels: { app: 'web' } },
        maxUnavailable: '25%',
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
      },
    })
  })
})

it('a job runs its pods once, for as long as it says', () => {
  const { jobs } = described('nodes: [{ name: n1 }]\njobs: [{ name: import, completions: 3, runsForSeconds: 20 }]')
  expect(jobs.map(buildJob)).toEqual([
    {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'import', namespace: 'default' },
      spec: {
        completions: 3,
        parallelism: 1,
        template: {
          metadata: { labels: { app: 'import' }, annotations: { 'cofferdam.io/run-seconds': '20' } },
          spec: {
            containers: [{ name: 'import', image: 'registry.example/import:1.0.0' }],
            restartPolicy: 'Never',
          },
        },
      },
    },
  ])
})

describe('the whole cluster', () => {
  const cluster = described(`
nodes: [{ name: n1 }]
apps: [{ name: web, namespace: shop, pdb: { minAvailable: 1 } }, { name: agent, namespace: shop, kind: DaemonSet }]
jobs: [{ name: import, namespace: batch }]`)

  it('is created in an order in which nothing is missing and no pod is ever without its budget', () => {
    expect(buildSeeds(cluster).map(({ type, object }) => `${type.kind} ${keyText(keyOf(object))}`)).toEqual([
      'Namespace shop',
      'Namespace batch',
      'Node n1',
      'PodDisruptionBudget shop/web',
      'Deployment shop/web',
      'DaemonSet shop/agent',
      'Job batch/import',
    ])
  })

  it('is accepted by the API server, and seeding it again changes nothing', async () => {
    const server = new ApiServer({ clock: new VirtualClock(), random: seededRandom(1) })
    const api = server.as(clusterAdmin)
    await seedCluster(api, cluster)
    const version = server.version
    await seedCluster(api, cluster)
    expect(server.version).toBe(version)
    expect((await api.get(nodes, { name: 'n1' })).status?.capacity?.['cpu']).toBe('8')
    expect((await api.get(podDisruptionBudgets, { namespace: 'shop', name: 'web' })).spec.minAvailable).toBe(1)
    expect((await api.list(namespaces)).items.map(({ metadata }) => metadata.name)).toContain('batch')
  })
})
