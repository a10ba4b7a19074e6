import { evictionRequests } from '@cofferdam/kubernetes/api/kinds/eviction-requests.ts'
import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type EvictionResponders, mover, openEvictionResponders } from './testing/eviction-responders.ts'
import { type LockFixture, openLockFixture } from './testing/lock-fixture.ts'
import { takeRights } from './testing/take-rights.ts'

let fixture: LockFixture
let responders: EvictionResponders

async function open(options?: { readonly areServed: boolean }): Promise<void> {
  fixture = await openLockFixture({ server: { optionalField: 'evictionResponders' } })
  responders = await openEvictionResponders(fixture, options)
  await fixture.addLeaving('web', { replicas: 3 })
  await responders.addMovable('vm')
}

afterEach(async () => {
  expect(fixture.oracle.violations).toEqual([])
  responders.stop()
  await fixture.close()
})

const onNode = (app: string) => fixture.podsOn('node-1').filter((pod) => pod.startsWith(app))
const vmThere = () => onNode('vm')[0] ?? ''
const request = () => fixture.request('reboot', { nodeName: 'node-1' })
const secondsUntilDrained = async (withinSeconds: number) => {
  const began = fixture.clock.now()
  await fixture.reach('reboot', 'Drained', withinSeconds)
  return (fixture.clock.now() - began) / 1_000
}

describe('where the API server has EvictionRequests', () => {
  beforeEach(() => open())

  it('a responder moves its pod by itself, and the drain evicts the others and waits for it', async () => {
    responders.control()
    const { done } = responders.respond(300)
    const vm = vmThere()
    fixture.operate()
    await request()
    await fixture.until('only the pod that is being moved is left', () => fixture.podsOn('node-1').join() === vm)
    await fixture.seconds(200)
    expect(fixture.statusOf('reboot')).toMatchObject({
      phase: 'Draining',
      blockedBy: [{ object: `pod/shop/${vm}`, holder: mover, reason: 'EvictionResponderActive', pods: [`shop/${vm}`] }],
    })
    expect(await fixture.told('reboot')).toContain('EvictionResponderActive')
    await fixture.reach('reboot', 'Drained', 200)
    expect(done).toEqual([`moves ${vm}`, `moved ${vm}`])
    expect(fixture.statusOf('reboot').evictedPods).toContainEqual(expect.objectContaining({ name: vm }))
    expect(responders.asks()).toEqual([])
  })

  it('two responders have their turns one after the other', async () => {
    responders.control()
    await responders.addMovable('two', ['acme.io/copier', mover])
    const copier = responders.respond(100, { name: 'acme.io/copier', isPartial: true })
    const last = responders.respond(50)
    const [two, vm] = [onNode('two')[0], vmThere()]
    fixture.operate()
    await request()
    await fixture.until('the second has it', () => last.done.includes(`moves ${two}`))
    expect(copier.done).toEqual([`moves ${two}`, `moved ${two}`])
    await fixture.reach('reboot', 'Drained', 400)
    expect(last.done).toEqual([`moves ${vm}`, `moved ${vm}`, `moves ${two}`, `moved ${two}`])
  })

  it('without a controller none of the responders is ever active: the pod is evicted after a minute', async () => {
    fixture.operate()
    await request()
    const seconds = await secondsUntilDrained(120)
    expect(seconds).toBeGreaterThan(60)
    expect(seconds).toBeLessThan(90)
  })

  it('a responder that dies in the middle is waited for as long as its last heartbeat is young, and then its pod is evicted', async () => {
    responders.control()
    const dying = responders.respond(10_000)
    const vm = vmThere()
    fixture.operate()
    await request()
    await fixture.until('it has begun', () => dying.done.length > 0)
    dying.stop()
    await fixture.seconds(19 * 60)
    expect(fixture.podsOn('node-1')).toEqual([vm])
    expect(await secondsUntilDrained(300)).toBeLessThan(180)
  })

  it('a request that is cancelled withdraws what it asked, the responder stops, and the pod stays where it is', async () => {
    responders.control()
    const { done } = responders.respond(600)
    const vm = vmThere()
    fixture.operate()
    await request()
    await fixture.until('it has begun', () => done.length > 0)
    await fixture.api.delete(nodeDisruptions, { name: 'reboot' })
    await fixture.until('nothing is held', () => fixture.heldKeys().length === 0)
    await fixture.seconds(700)
    expect([done, responders.asks()]).toEqual([[`moves ${vm}`, `stopped moving ${vm}`], [`${vm}: Withdrawn`]])
    expect([fixture.podsOn('node-1').includes(vm), fixture.isCordoned('node-1')]).toEqual([true, false])
  })

  it('a request that misses its deadline withdraws what it asked', async () => {
    responders.control()
    responders.respond(6_000)
    const vm = vmThere()
    fixture.operate()
    const deadline = new Date(fixture.clock.now() + 600_000).toISOString()
    await fixture.request('reboot', { nodeName: 'node-1', deadline })
    await fixture.reach('reboot', 'Rejected', 900)
    expect([responders.asks(), vmThere()]).toEqual([[`${vm}: Withdrawn`], vm])
  })

  it('a request whose object vanished with its finalizer leaves no responder at work once its node is uncordoned', async () => {
    responders.control()
    const { done } = responders.respond(6_000)
    const vm = vmThere()
    const operator = fixture.operate()
    await request()
    await fixture.until('it has begun', () => done.length > 0)
    operator.kill()
    await fixture.api.patch(
      nodeDisruptions,
      { name: 'reboot' },
      { type: 'merge', body: { metadata: { finalizers: [] } } },
    )
    await fixture.api.delete(nodeDisruptions, { name: 'reboot' })
    fixture.operate()
    await fixture.until('its hold is known to be an orphan', () => fixture.heldKeys().join() === 'node/node-1 Orphaned')
    await fixture.api.patch(nodes, { name: 'node-1' }, { type: 'merge', body: { spec: { unschedulable: null } } })
    await fixture.until('nothing is held', () => fixture.heldKeys().length === 0)
    await fixture.seconds(1)
    expect([done.at(-1), responders.asks()]).toEqual([`stopped moving ${vm}`, [`${vm}: Withdrawn`]])
  })

  it('an operator that is killed in the middle goes on where it was: the pod is asked for once', async () => {
    responders.control()
    const { done } = responders.respond(120)
    const vm = vmThere()
    const operator = fixture.operate({ isReplaced: true })
    await request()
    await fixture.until('it has begun', () => done.length > 0)
    operator.kill()
    await fixture.reach('reboot', 'Drained')
    expect(done).toEqual([`moves ${vm}`, `moved ${vm}`])
  })

  it('an operator that may not use them evicts as ever, and says that it did not ask', async () => {
    responders.control()
    const { done } = responders.respond(300)
    await takeRights(fixture.api, 'lifecycle.k8s.io')
    const vm = vmThere()
    fixture.operate()
    await request()
    expect(await secondsUntilDrained(60)).toBeLessThan(30)
    expect([done, responders.asks()]).toEqual([[], []])
    expect(await fixture.told('reboot')).not.toContain('RightsMissing')
    expect(fixture.statusOf('reboot').evictedPods).toContainEqual(expect.objectContaining({ name: vm }))
  })

  it('an operator that may read and not write them evicts as ever', async () => {
    responders.control()
    await takeRights(fixture.api, 'lifecycle.k8s.io', ['create', 'patch'])
    fixture.operate()
    await request()
    expect(await secondsUntilDrained(60)).toBeLessThan(30)
    expect(responders.asks()).toEqual([])
  })

  it('an EvictionRequest of another requester for the same pod is left alone', async () => {
    responders.control()
    const { done } = responders.respond(600)
    const vm = vmThere()
    const pod = { name: vm, uid: fixture.views.of(pods).get(`shop/${vm}`)?.metadata.uid ?? '' }
    await fixture.api.create(evictionRequests, {
      apiVersion: 'lifecycle.k8s.io/v1alpha1',
      kind: 'EvictionRequest',
      metadata: { namespace: 'shop', name: 'descheduler' },
      spec: { target: { pod }, requesterName: 'descheduler.io/tidy', intent: 'Eviction' },
    })
    fixture.operate()
    await request()
    await fixture.until('both ask', () => responders.asks().length === 2)
    await fixture.api.delete(nodeDisruptions, { name: 'reboot' })
    await fixture.until('nothing is held', () => fixture.heldKeys().length === 0)
    expect(responders.asks()).toEqual([`${vm}: Eviction`, `${vm}: Withdrawn`])
    await fixture.seconds(700)
    expect(done).toEqual([`moves ${vm}`, `moved ${vm}`])
  })
})

it('where the API server has no EvictionRequests, pods that name responders are evicted as ever', async () => {
  await open({ areServed: false })
  fixture.operate()
  await request()
  expect(await secondsUntilDrained(60)).toBeLessThan(30)
})
