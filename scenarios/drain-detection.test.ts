import type { Pod, Taint } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { nodeStateOf } from '@cofferdam/product/explain/node-state.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type ConditionRebooter, startConditionRebooter } from './testing/condition-rebooter.ts'
import { type LockFixture, openLockFixture } from './testing/lock-fixture.ts'

let fixture: LockFixture
let rebooter: ConditionRebooter | undefined
afterEach(async () => {
  rebooter?.stop()
  rebooter = undefined
  await fixture.close()
})

const says = (name: string) => {
  const node = fixture.views.of(nodes).get(name)
  const { status, reason } = (node && conditionOf(node, 'Drained')) ?? {}
  return `${status} ${reason}`
}
const cordon = (name: string) =>
  fixture.api.patch(nodes, { name }, { type: 'merge', body: { spec: { unschedulable: true } } })
const shopPods = () => fixture.oracle.violations.filter((sentence) => sentence.startsWith('shop/'))

describe('whoever reboots what says Drained=True', () => {
  it('takes no two replicas down: cofferdam drains node-1, and kubectl drains node-2, whose evictions are all refused', async () => {
    fixture = await openLockFixture()
    await fixture.addStaying('orders')
    await fixture.addStaying('web')
    fixture.operate()
    await fixture.seconds(5)
    rebooter = startConditionRebooter({ ...fixture, tell: fixture.trace.tell }, 90)
    await fixture.request('reboot-1', { nodeName: 'node-1' })
    await fixture.until('node-1 is down', () => !fixture.world.kubelet.isOn('node-1'))
    fixture.drain('node-2')
    await fixture.seconds(60)
    expect(fixture.podsOn('node-2')).toHaveLength(2)
    expect(says('node-2')).toBe('False PodsRemain')
    expect(rebooter.takenDown.map(({ node }) => node)).toEqual(['node-1'])

    await fixture.until('node-2 went down too', () => rebooter?.takenDown.length === 2, 600)
    expect(rebooter.takenDown).toEqual([
      { node: 'node-1', running: ['orders-0', 'web-0'].map(podOnNode1) },
      { node: 'node-2', running: [] },
    ])
    expect(shopPods()).toEqual([])
  })

  it('waits for a node that is only cordoned, though its pods ask to stay: nobody holds their budgets', async () => {
    fixture = await openLockFixture()
    await fixture.addStaying('orders')
    fixture.operate()
    await fixture.seconds(5)
    rebooter = startConditionRebooter({ ...fixture, tell: fixture.trace.tell }, 90)
    await cordon('node-1')
    await cordon('node-2')
    await fixture.seconds(600)
    expect([says('node-1'), says('node-2')]).toEqual(['False PodsRemain', 'False PodsRemain'])
    expect([rebooter.takenDown, shopPods()]).toEqual([[], []])
  })

  it('waits for a node again whose request is over: what stayed is nobody’s to take down', async () => {
    fixture = await openLockFixture()
    await fixture.addStaying('orders')
    fixture.operate()
    await fixture.seconds(5)
    await cordon('node-1')
    await fixture.request('reboot-1', { nodeName: 'node-1' })
    await fixture.until('node-1 says so', () => says('node-1') === 'True DrainCompleted')
    fixture.world.kubelet.reboot('node-1', 30)
    await fixture.reach('reboot-1', 'Completed')
    await fixture.seconds(5)
    expect([fixture.isCordoned('node-1'), fixture.podsOn('node-1').length]).toEqual([true, 1])
    expect(says('node-1')).toBe('False PodsRemain')
  })
})

const bare: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'shop', name: 'batch' },
  spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'registry.example/batch:1' }] },
}
const noExecute: Taint = { key: 'example.com/maintenance', effect: 'NoExecute' }
const patience = { key: noExecute.key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 } as const

describe('a node is not drained', () => {
  it('while a pod outlives a NoExecute taint for its 300 seconds', async () => {
    fixture = await openLockFixture()
    await fixture.api.create(pods, { ...bare, spec: { ...bare.spec, tolerations: [patience] } })
    fixture.operate()
    await fixture.seconds(5)
    const body = { spec: { unschedulable: true, taints: [{ ...noExecute, timeAdded: rfc3339(fixture.clock.now()) }] } }
    await fixture.api.patch(nodes, { name: 'node-1' }, { type: 'merge', body })
    await fixture.seconds(290)
    expect([says('node-1'), fixture.podsOn('node-1')]).toEqual(['False PodsRemain', ['batch']])
    await fixture.until('it has gone', () => fixture.podsOn('node-1').length === 0)
    await fixture.seconds(2)
    expect(says('node-1')).toBe('True DrainCompleted')
  })

  it('while a pod that asks to stay may not, because it tolerates an absent node for 300 seconds only', async () => {
    fixture = await openLockFixture()
    const annotations = { 'cofferdam.io/skip-drain': 'true' }
    await fixture.api.create(pods, { ...bare, metadata: { ...bare.metadata, annotations } })
    fixture.operate()
    await fixture.seconds(5)
    await cordon('node-1')
    await fixture.seconds(5)
    expect(says('node-1')).toBe('False PodsRemain')
  })

  it('while a finalizer keeps a pod that has ended: whoever put it there may still need the machine', async () => {
    fixture = await openLockFixture()
    await fixture.api.create(pods, { ...bare, metadata: { ...bare.metadata, finalizers: ['example.com/backup'] } })
    fixture.operate()
    await fixture.seconds(5)
    await cordon('node-1')
    await fixture.api.delete(pods, { namespace: 'shop', name: 'batch' })
    await fixture.seconds(600)
    const [left] = [...fixture.views.of(pods).values()].filter(({ metadata }) => metadata.name === 'batch')
    expect(left?.status?.phase).toBe('Failed')
    expect(says('node-1')).toBe('False PodsRemain')
    const node = await fixture.api.get(nodes, { name: 'node-1' })
    const podsOnNode = left === undefined ? [] : [left]
    expect(nodeStateOf({ node, podsOnNode, leftByRequest: [], now: rfc3339(fixture.clock.now()) }).drain).not.toBe(
      'DrainCompleted',
    )

    const body = { metadata: { finalizers: null } }
    await fixture.api.patch(pods, { namespace: 'shop', name: 'batch' }, { type: 'merge', body })
    await fixture.seconds(5)
    expect(says('node-1')).toBe('True DrainCompleted')
  })
})

/** Which replica is on which node is the scheduler's choice. */
function podOnNode1(name: string): string {
  const app = name.split('-')[0] ?? ''
  const found = [...fixture.views.of(pods).values()].find(
    ({ metadata, spec }) => spec.nodeName === 'node-1' && metadata.labels?.['app'] === app,
  )
  return found?.metadata.name ?? name
}
