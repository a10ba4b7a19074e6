import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { Condition, KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { events, leases, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod, type KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { typeOfObject } from '@cofferdam/simulator/api-server/type-of-object.ts'
import { clusterAdmin, serviceAccountUser } from '@cofferdam/simulator/api-server/user-info.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { loadAll } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { buildDeployFiles } from '../deploy/deploy-files.ts'
import { nodeDisruptions } from '../shared/kinds/node-disruption.ts'
import { permissionsOf } from './controller-names.ts'
import { createMetrics } from './metrics.ts'
import { startOperator } from './operator.ts'

const silent = { info() {}, warn() {}, error() {}, debug() {} } as never
const namespace = 'cofferdam-system'

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}
type Role = KubeObject & { readonly rules: readonly Rule[] }

/** Everything of deploy/ that this controller needs, the workload left out: here the operator runs beside the API server. */
function manifests(): KubeObject[] {
  const permissions = { 'drain-detection': permissionsOf['drain-detection'] }
  const files = buildDeployFiles({ version: 'test', permissions })
  return Object.entries(files)
    .filter(([path]) => path === 'access.yaml' || path.startsWith('crds/'))
    .flatMap(([, text]) => loadAll(text) as KubeObject[])
}

async function openCluster(objects = manifests()) {
  const clock = new VirtualClock()
  const server = new ApiServer({ clock, random: seededRandom(7) })
  server.start()
  const admin = server.as(clusterAdmin)
  for (const object of objects) await admin.create(typeOfObject(server.catalogue, object) as ResourceType, object)
  await admin.create(nodes, node('worker-a1'))
  for (const name of ['web-1', 'web-2']) {
    const pod = await admin.create(pods, podOn('worker-a1', name))
    await admin.update(pods, { ...pod, status: { ...pod.status, phase: 'Running' } }, { subresource: 'status' })
  }
  return { clock, server, admin }
}

function operate(clock: VirtualClock, api: KubeApi, options: { dryRun?: boolean; identity?: string } = {}) {
  const metrics = createMetrics()
  const operator = startOperator({
    api,
    clock,
    random: seededRandom(3),
    log: silent,
    metrics,
    controllers: ['drain-detection'],
    dryRun: options.dryRun === true,
    lease: { namespace, name: 'cofferdam-operator', identity: options.identity ?? 'one' },
  })
  return { operator, metrics }
}

/** A server that cannot stream its present state, as before 1.32: collections are listed in pages there. */
function withoutStreaming(api: KubeApi): KubeApi {
  return {
    get: (...request) => api.get(...request),
    list: (...request) => api.list(...request),
    create: (...request) => api.create(...request),
    createSubresource: (...request) => api.createSubresource(...request),
    update: (...request) => api.update(...request),
    patch: (...request) => api.patch(...request),
    delete: (...request) => api.delete(...request),
    deleteCollection: (...request) => api.deleteCollection(...request),
    watch(type, query) {
      if (query?.sendInitialEvents) throw new ApiError('Invalid', 'sendInitialEvents is forbidden for watch')
      return api.watch(type, query)
    },
  }
}

const account = serviceAccountUser(namespace, 'cofferdam-operator')

/** Cordons the node, evicts one of its pods and has a request leave the other, then deletes the node; tells what its conditions said after each step. */
async function drainScenario(clock: VirtualClock, admin: KubeApi): Promise<Record<string, string>> {
  await admin.patch(nodes, { name: 'worker-a1' }, { type: 'merge', body: { spec: { unschedulable: true } } })
  await clock.advance(1_000)
  const cordoned = await conditionsOf(admin)
  await evictPod(admin, { namespace: 'default', name: 'web-1' })
  await clock.advance(1_000)
  const leaving = await conditionsOf(admin)
  await admin.delete(pods, { namespace: 'default', name: 'web-1' }, { gracePeriodSeconds: 0 })
  await leaveOnNode(admin, await admin.get(pods, { namespace: 'default', name: 'web-2' }))
  await clock.advance(1_000)
  const drained = await conditionsOf(admin)
  await admin.patch(nodes, { name: 'worker-a1' }, { type: 'merge', body: { spec: { unschedulable: null } } })
  await clock.advance(1_000)
  const uncordoned = await conditionsOf(admin)
  await admin.delete(nodes, { name: 'worker-a1' })
  await clock.advance(1_000)
  const { items } = await admin.list(events)
  const gone = items.flatMap(({ source, reason }) => (source?.component === 'cofferdam' ? [reason] : [])).join(', ')
  return { cordoned, leaving, drained, uncordoned, gone }
}

/** What the controller of requests does when nothing is left on the node but what stays. */
async function leaveOnNode(admin: KubeApi, { metadata: { namespace: at = '', name, uid = '' } }: Pod): Promise<void> {
  const spec = { nodeName: 'worker-a1', intent: 'Reboot', honourSkipDrain: true } as const
  const request = { apiVersion: 'cofferdam.io/v1alpha1', kind: 'NodeDisruption', metadata: { name: 'reboot' }, spec }
  await admin.create(nodeDisruptions, request)
  const status = { phase: 'Drained', skippedPods: [{ namespace: at, name, uid }] }
  await admin.patch(nodeDisruptions, request.metadata, { type: 'merge', body: { status } }, { subresource: 'status' })
}

async function conditionsOf(api: KubeApi): Promise<string> {
  const { status } = await api.get(nodes, { name: 'worker-a1' })
  const say = ({ type, status: value, reason }: Condition) => `${type}=${value} (${reason})`
  return (status?.conditions ?? []).map(say).join(', ')
}

const wholeScenario = {
  cordoned: 'DrainInProgress=False (CordonedOnly), Drained=False (PodsRemain)',
  leaving: 'DrainInProgress=True (PodsLeaving), Drained=False (PodsRemain)',
  drained: 'DrainInProgress=False (DrainCompleted), Drained=True (DrainCompleted)',
  uncordoned: 'DrainInProgress=False (NotCordoned), Drained=False (NotCordoned)',
  gone: 'NodeGoneWithPods',
}

/** One of them is enough to lead. `list` shows a restored etcd sooner; by `get` the guard says who leads, and it was the only one in releases before. */
const readsOfLease = ['coordination.k8s.io leases get', 'coordination.k8s.io leases list']

describe('the operator', () => {
  it('with the rights of deploy/ and no others, says on the node how its drain goes', async () => {
    const { clock, server, admin } = await openCluster()
    const { operator } = operate(clock, server.as(account))
    await clock.advance(5_000)
    expect(await drainScenario(clock, admin)).toEqual(wholeScenario)
    const stopped = operator.stop()
    await clock.advance(10_000)
    await stopped
    server.stop()
  })

  it('needs every one of its rights: without any of them the story is not told', async () => {
    for (const { without, objects } of manifestsWithoutOneRight()) {
      const { clock, server, admin } = await openCluster(objects)
      const { operator } = operate(clock, withoutStreaming(server.as(account)))
      await clock.advance(5_000)
      const stillWhole = JSON.stringify(await drainScenario(clock, admin)) === JSON.stringify(wholeScenario)
      const stopped = operator.stop()
      await clock.advance(30_000)
      await stopped
      // Without `update` the first minute works: the lease is made anew. It is the renewal that fails.
      if (without === 'coordination.k8s.io leases update')
        expect((await admin.get(leases, { namespace, name: 'cofferdam-operator' })).spec?.holderIdentity).toBe('one')
      else expect([without, stillWhole]).toEqual([without, readsOfLease.includes(without)])
      server.stop()
    }
  })

  it('in a dry run has every write checked and none stored', async () => {
    const { clock, server, admin } = await openCluster()
    const { operator, metrics } = operate(clock, server.as(account), { dryRun: true })
    await clock.advance(5_000)
    const scenario = await drainScenario(clock, admin)
    expect(Object.values(scenario)).toEqual(['', '', '', '', ''])
    expect(await metrics.registry.metrics()).not.toContain('result="failed"')
    const stopped = operator.stop()
    await clock.advance(10_000)
    await stopped
    server.stop()
  })

  it('hands over to a standby when it stops, and the standby takes the story up', async () => {
    const { clock, server, admin } = await openCluster()
    const first = operate(clock, server.as(account), { identity: 'one' })
    const second = operate(clock, server.as(account), { identity: 'two' })
    await clock.advance(5_000)
    const stopped = first.operator.stop()
    await clock.advance(10_000)
    await stopped
    expect((await admin.get(leases, { namespace, name: 'cofferdam-operator' })).spec?.holderIdentity).toBe('two')
    expect(await drainScenario(clock, admin)).toEqual(wholeScenario)
    const ended = second.operator.stop()
    await clock.advance(10_000)
    await ended
    server.stop()
  })
})

function manifestsWithoutOneRight(): { without: string; objects: KubeObject[] }[] {
  const all = manifests()
  const cases: { without: string; objects: KubeObject[] }[] = []
  all.forEach((object, at) => {
    const { rules } = object as Role
    rules?.forEach((rule, ruleAt) => {
      for (const verb of rule.verbs) {
        const verbs = rule.verbs.filter((each) => each !== verb)
        const kept = rules.map((each, index) => (index === ruleAt ? { ...each, verbs } : each))
        const remaining = kept.filter((each) => each.verbs.length > 0)
        cases.push({
          without: `${rule.apiGroups[0]} ${rule.resources[0]} ${verb}`.trim(),
          objects: all.with(at, { ...object, rules: remaining } as Role),
        })
      }
    })
  })
  return cases
}

function node(name: string): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name } }
}

function podOn(nodeName: string, name: string): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels: { app: 'web' } },
    spec: { nodeName, containers: [{ name: 'web', image: 'web:1' }] },
  }
}

it('an operator whose etcd is restored from a backup ends within seconds, the one that stands by too: both may have missed what was undone', async () => {
  const { clock, server, admin } = await openCluster()
  const both = ['one', 'two'].map((identity) => operate(clock, admin, { identity }).operator)
  await clock.advance(30_000)
  const backup = server.backup()
  await clock.advance(30_000)
  const ends: string[] = []
  for (const { ended } of both) void ended.then((how) => ends.push(how))
  server.restore(backup)
  await clock.advance(5_000)
  expect(ends).toEqual(['restored', 'restored'])
  server.stop()
})
