import { nodes, podDisruptionBudgets, statefulSets } from '@cofferdam/kubernetes/api/resources.ts'
import { budget, statefulSet } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { disruptionPolicies } from '../../../shared/kinds/disruption-policy.ts'
import { nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import { type DisruptionFixture, openDisruptionFixture, patient } from '../testing/disruption-fixture.ts'

let fixture: DisruptionFixture | undefined
afterEach(async () => {
  await fixture?.close()
  fixture = undefined
})

async function open(nodeCount: number): Promise<DisruptionFixture> {
  fixture = await openDisruptionFixture({ nodeCount })
  return fixture
}

/** An application with one pod on each of these nodes, all of which stay. */
async function addStayingOn(
  { api, seconds }: DisruptionFixture,
  name: string,
  names: readonly string[],
): Promise<void> {
  for (const node of names) {
    await api.patch(nodes, { name: node }, { type: 'merge', body: { metadata: { labels: { [name]: 'yes' } } } })
  }
  const apart = {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { labelSelector: { matchLabels: { app: name } }, topologyKey: 'kubernetes.io/hostname' },
      ],
    },
  }
  const pod = { affinity: apart, tolerations: patient, nodeSelector: { [name]: 'yes' } }
  const annotations = { 'cofferdam.io/skip-drain': 'true' }
  const options = { replicas: names.length, pod, annotations, podManagementPolicy: 'Parallel' } as const
  await api.create(statefulSets, statefulSet(name, options))
  await api.create(podDisruptionBudgets, budget(name, { maxUnavailable: 1 }))
  await seconds(10)
}

async function label(
  { api }: DisruptionFixture,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  await api.patch(nodes, { name }, { type: 'merge', body: { metadata: { labels } } })
}

/** Reboots nodes as soon as their requests say that they may go, and notes in which order that was. */
async function rebootAll(
  { world, phaseOf, seconds, api }: DisruptionFixture,
  requests: ReadonlyMap<string, string>,
): Promise<{ readonly order: readonly string[]; readonly most: number }> {
  const order: string[] = []
  let most = 0
  for (let waited = 0; waited < 3_000; waited += 2) {
    const phases = new Map<string, string>()
    for (const name of requests.keys()) phases.set(name, await phaseOf(name))
    if ([...phases.values()].every((phase) => phase === 'Completed')) return { order, most }
    const away = [...phases.values()].filter((phase) => ['Draining', 'Drained', 'Recovering'].includes(phase))
    most = Math.max(most, away.length)
    for (const [name, phase] of phases) {
      if (phase !== 'Drained' || order.includes(name)) continue
      order.push(name)
      world.kubelet.reboot(requests.get(name) as string, 30)
    }
    await seconds(2)
  }
  const { items } = await api.list(nodeDisruptions)
  const waits = items.map(
    ({ metadata, status }) => `${metadata.name} ${status?.phase} ${JSON.stringify(status?.blockedBy)}`,
  )
  throw new Error(`not all requests have ended: ${waits.join('; ')}`)
}

describe('the queue of a whole operator', () => {
  it('a node that needs two applications is overtaken once at most by nodes that need one of them', async () => {
    const cluster = await open(5)
    const [n1, n2, n3, n4, n5] = ['node-1', 'node-2', 'node-3', 'node-4', 'node-5'] as const
    await addStayingOn(cluster, 'a', [n1, n2, n3])
    await addStayingOn(cluster, 'b', [n3, n4, n5])
    cluster.operate()
    const requests = new Map<string, string>()
    const request = async (name: string, nodeName: string) => {
      await cluster.request(name, { nodeName })
      requests.set(name, nodeName)
      await cluster.seconds(2)
    }
    await request('first-a', n1)
    await request('first-b', n4)
    await request('both', n3)
    await request('second-a', n2)
    await request('second-b', n5)
    const { order } = await rebootAll(cluster, requests)
    const later = order.slice(0, order.indexOf('both')).filter((name) => name.startsWith('second'))
    expect(later.length, order.join(' ')).toBeLessThanOrEqual(1)
    expect((await cluster.disruption('both')).status?.hasFallenBack).toBeUndefined()
  })
})

describe('limits on nodes in maintenance', () => {
  it('three drains of the control plane that begin at once take one node at a time, with no policy at all', async () => {
    const cluster = await open(4)
    const control = ['node-1', 'node-2', 'node-3']
    for (const name of control) await label(cluster, name, { 'node-role.kubernetes.io/control-plane': '' })
    await cluster.seconds(2)
    cluster.operate()
    for (const nodeName of control) await cluster.request(`reboot-${nodeName}`, { nodeName })
    const { most } = await rebootAll(cluster, new Map(control.map((name) => [`reboot-${name}`, name])))
    expect(most).toBe(1)
  })

  it('a control-plane node that is cordoned by hand or dead keeps the others, and the request says which', async () => {
    const cluster = await open(4)
    for (const name of ['node-1', 'node-2', 'node-3']) {
      await label(cluster, name, { 'node-role.kubernetes.io/control-plane': '' })
    }
    await cluster.api.patch(nodes, { name: 'node-2' }, { type: 'merge', body: { spec: { unschedulable: true } } })
    cluster.operate()
    await cluster.request('reboot', { nodeName: 'node-1' })
    await cluster.seconds(20)
    expect((await cluster.disruption('reboot')).status).toMatchObject({
      phase: 'Waiting',
      blockedBy: [{ object: 'limit/control-plane', reason: 'MaintenanceLimit', holder: 'node-2 (closed)' }],
    })
    await cluster.api.patch(nodes, { name: 'node-2' }, { type: 'merge', body: { spec: { unschedulable: null } } })
    await cluster.until('reboot', 'Drained')
  })

  it('two nodes of a zone at a time, as the policy says; a policy of 0 stops all, and requests continue when it is raised', async () => {
    const cluster = await open(6)
    const names = ['node-1', 'node-2', 'node-3', 'node-4', 'node-5', 'node-6']
    for (const [index, name] of names.entries()) await label(cluster, name, { zone: index < 4 ? 'x' : 'y' })
    const limits = (maxNodes: number) => [{ name: 'zone', per: 'zone', maxNodes }]
    await cluster.api.create(disruptionPolicies, {
      apiVersion: 'cofferdam.io/v1alpha1',
      kind: 'DisruptionPolicy',
      metadata: { name: 'cluster' },
      spec: { limits: limits(0) },
    })
    cluster.operate()
    for (const nodeName of names.slice(0, 4)) await cluster.request(`reboot-${nodeName}`, { nodeName })
    await cluster.seconds(30)
    expect((await cluster.disruption('reboot-node-1')).status).toMatchObject({
      phase: 'Waiting',
      blockedBy: [{ object: 'limit/zone/x', reason: 'MaintenanceLimit', holder: 'disruptionpolicy/cluster' }],
    })
    const body = { spec: { limits: limits(2) } }
    await cluster.api.patch(disruptionPolicies, { name: 'cluster' }, { type: 'merge', body })
    const { most } = await rebootAll(cluster, new Map(names.slice(0, 4).map((name) => [`reboot-${name}`, name])))
    expect(most).toBe(2)
  })
})

describe('requests that have ended', () => {
  it('are deleted after the time that the policy or the request gives them', async () => {
    const cluster = await open(2)
    await cluster.api.create(disruptionPolicies, {
      apiVersion: 'cofferdam.io/v1alpha1',
      kind: 'DisruptionPolicy',
      metadata: { name: 'cluster' },
      spec: { ttlSecondsAfterFinished: 600 },
    })
    cluster.operate({ controllers: ['node-disruption', 'disruption-ledger', 'finished-requests'] })
    await cluster.request('kept', { nodeName: 'no-such-node', ttlSecondsAfterFinished: 86_400 })
    await cluster.request('forgotten', { nodeName: 'no-such-node' })
    await cluster.until('forgotten', 'Rejected')
    await cluster.seconds(500)
    expect(await cluster.phaseOf('forgotten')).toBe('Rejected')
    await cluster.seconds(200)
    await expect(cluster.disruption('forgotten')).rejects.toThrow('not found')
    expect(await cluster.phaseOf('kept')).toBe('Rejected')
  })
})
