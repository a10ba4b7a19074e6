import { events, nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { budget } from '@cofferdam/simulator/world/testing/scenario.ts'
import { describe, expect, it } from 'vitest'
import { heldKeys } from '../../../ledger/store/testing/ledger-fixture.ts'
import { cordonMarkOf } from '../../../shared/cordon-mark.ts'
import { disruptionLedgers } from '../../../shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import { type DisruptionFixture, openDisruptionFixture } from '../testing/disruption-fixture.ts'

/** What stands in the way, in short: object, reason, way out. */
async function blockers(fixture: DisruptionFixture, name: string): Promise<string[]> {
  const { status } = await fixture.disruption(name)
  return (status?.blockedBy ?? []).map(({ object, reason, holder }) => `${object} ${reason} by ${holder}`)
}

async function reasonsTold(fixture: DisruptionFixture, kind: string): Promise<string[]> {
  const { items } = await fixture.api.list(events)
  return items
    .filter(({ source, involvedObject }) => source?.component === 'cofferdam' && involvedObject.kind === kind)
    .sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
    .map(({ reason }) => reason ?? '')
}

describe('a request to reboot a node', () => {
  it('drains it around the pod that stays, waits for the reboot, and gives everything back', async () => {
    const fixture = await openDisruptionFixture()
    await fixture.addStaying('db')
    await fixture.addLeaving('web', { replicas: 2, maxUnavailable: 1 })
    fixture.operate()
    await fixture.seconds(2)
    const before = await fixture.budgets()
    const node = await fixture.nodeOf('db-0')
    await fixture.request('reboot-a', { nodeName: node, reason: 'kernel' })
    await fixture.until('reboot-a', 'Drained')
    expect(await fixture.podsOn(node)).toEqual(['db-0'])
    expect(await fixture.isCordoned(node)).toBe(true)
    expect(await fixture.budgets()).toEqual([
      'db (1): 0 of 2 without db-0 held by nodedisruption/reboot-a',
      'web (1): 1 of 2',
    ])
    fixture.world.kubelet.reboot(node, 90)
    await fixture.until('reboot-a', 'Completed')
    await fixture.seconds(5)
    expect(await fixture.isCordoned(node)).toBe(false)
    expect(await fixture.budgets()).toEqual(before)
    expect(await heldKeys(fixture.api)).toEqual([])
    const { status, metadata } = await fixture.disruption('reboot-a')
    expect(metadata.finalizers).toBeUndefined()
    expect(status).toMatchObject({
      phase: 'Completed',
      skippedPods: [{ name: 'db-0' }],
      lockedBudgets: [{ name: 'db' }],
      cordonedBy: 'nodedisruption/reboot-a, lifted',
    })
    expect(await reasonsTold(fixture, 'NodeDisruption')).toEqual([
      'LocksAsked',
      'LocksPending',
      'PodsLeaving',
      'NodeAway',
      'PodsRecovering',
    ])
    expect(await reasonsTold(fixture, 'Node')).toEqual(['IntentWritten', 'NodeMayGo', 'DisruptionCompleted'])
    const text = await fixture.metrics.registry.metrics()
    expect(text).toContain('cofferdam_disruptions{phase="Completed",tool=""} 1')
    expect(text).toContain('cofferdam_disruption_evictions_total{result="granted"} 1')
    expect(text).toContain('cofferdam_disruption_waiting_seconds_count 1')
    await fixture.close()
  })

  it('that is over is never looked at again', async () => {
    const fixture = await openDisruptionFixture()
    fixture.operate()
    await fixture.request('reboot-1', { nodeName: 'node-1' })
    await fixture.until('reboot-1', 'Drained')
    fixture.world.kubelet.reboot('node-1', 60)
    await fixture.until('reboot-1', 'Completed')
    await fixture.seconds(5)
    const { metadata } = await fixture.disruption('reboot-1')
    const countOf = async () => {
      const text = await fixture.metrics.registry.metrics()
      return /reconciles_total\{controller="node-disruption",result="done"\} (\d+)/.exec(text)?.[1]
    }
    const looks = await countOf()
    await fixture.seconds(600)
    expect([await countOf(), (await fixture.disruption('reboot-1')).metadata.resourceVersion]).toEqual([
      looks,
      metadata.resourceVersion,
    ])
    await fixture.close()
  })

  it('while the node has nothing to be evicted says at once that it may go, and gives it back, with no mark left, when it is uncordoned', async () => {
    const fixture = await openDisruptionFixture()
    fixture.operate()
    await fixture.request('reboot-1', { nodeName: 'node-1' })
    await fixture.until('reboot-1', 'Drained', 5)
    await fixture.api.patch(nodes, { name: 'node-1' }, { type: 'merge', body: { spec: { unschedulable: null } } })
    await fixture.until('reboot-1', 'Completed', 10)
    expect(await heldKeys(fixture.api)).toEqual([])
    expect(cordonMarkOf(await fixture.api.get(nodes, { name: 'node-1' }))).toBe('')
    await fixture.close()
  })

  it('leaves a node cordoned that somebody else had cordoned before', async () => {
    const fixture = await openDisruptionFixture()
    fixture.operate()
    await fixture.api.patch(nodes, { name: 'node-1' }, { type: 'merge', body: { spec: { unschedulable: true } } })
    await fixture.request('reboot-1', { nodeName: 'node-1' })
    await fixture.until('reboot-1', 'Drained')
    fixture.world.kubelet.reboot('node-1', 60)
    await fixture.until('reboot-1', 'Completed')
    expect(await fixture.isCordoned('node-1')).toBe(true)
    await fixture.close()
  })

  it('for a node that does not exist is rejected, with a reason', async () => {
    const fixture = await openDisruptionFixture()
    fixture.operate()
    await fixture.request('reboot-9', { nodeName: 'node-9' })
    await fixture.until('reboot-9', 'Rejected', 5)
    const { status } = await fixture.disruption('reboot-9')
    expect(status?.conditions?.map(({ reason }) => reason)).toEqual(['NodeUnknown', 'NodeUnknown'])
    await fixture.close()
  })
})

describe('a dry run', () => {
  it('has the first step of a request checked, and stores nothing', async () => {
    const fixture = await openDisruptionFixture()
    const made = await fixture.request('reboot-1', { nodeName: 'node-1' })
    fixture.operate({ dryRun: true })
    await fixture.seconds(300)
    expect(await fixture.disruption('reboot-1')).toEqual(made)
    expect([(await fixture.api.list(disruptionLedgers)).items, await fixture.isCordoned('node-1')]).toEqual([[], false])
    await fixture.close()
  })
})

describe('two requests', () => {
  it('that need the same two budgets in any order never wedge: one goes, the other waits and goes then', async () => {
    const fixture = await openDisruptionFixture()
    await fixture.addStaying('my-app')
    await fixture.addStaying('your-app')
    fixture.operate()
    await fixture.request('reboot-1', { nodeName: 'node-1' })
    await fixture.request('reboot-2', { nodeName: 'node-2' })
    await fixture.until('reboot-1', 'Drained')
    await fixture.seconds(60)
    expect(await fixture.phaseOf('reboot-2')).toBe('Waiting')
    const held = (app: string) =>
      expect.stringMatching(
        new RegExp(`^pdb/default/${app} HeldByRequest by operator-\\w+ for nodedisruption/reboot-1$`),
      )
    expect(await blockers(fixture, 'reboot-2')).toEqual([held('my-app'), held('your-app')])
    fixture.world.kubelet.reboot('node-1', 60)
    await fixture.until('reboot-1', 'Completed')
    await fixture.until('reboot-2', 'Drained')
    fixture.world.kubelet.reboot('node-2', 60)
    await fixture.until('reboot-2', 'Completed')
    await fixture.seconds(5)
    expect(await fixture.budgets()).toEqual(['my-app (1): 1 of 3', 'your-app (1): 1 of 3'])
    await fixture.close()
  })

  it('for one node go one after the other', async () => {
    const fixture = await openDisruptionFixture()
    fixture.operate()
    await fixture.request('first', { nodeName: 'node-1' })
    await fixture.until('first', 'Drained')
    await fixture.request('second', { nodeName: 'node-1' })
    await fixture.until('second', 'Waiting')
    await fixture.seconds(30)
    expect(await blockers(fixture, 'second')).toEqual([
      expect.stringMatching(/^node\/node-1 HeldByRequest by operator-\w+ for nodedisruption\/first$/),
    ])
    fixture.world.kubelet.reboot('node-1', 60)
    await fixture.until('first', 'Completed')
    await fixture.until('second', 'Drained')
    await fixture.close()
  })
})

describe('a request that somebody deletes', () => {
  it('while its node is drained gives the node and the budgets back, and is gone', async () => {
    const fixture = await openDisruptionFixture()
    await fixture.addStaying('db')
    const before = await fixture.budgets()
    fixture.operate()
    const node = await fixture.nodeOf('db-0')
    await fixture.request('reboot-a', { nodeName: node })
    await fixture.until('reboot-a', 'Drained')
    await fixture.api.delete(nodeDisruptions, { name: 'reboot-a' })
    await fixture.seconds(10)
    expect((await fixture.api.list(nodeDisruptions)).items).toEqual([])
    expect([await fixture.isCordoned(node), await fixture.budgets(), await heldKeys(fixture.api)]).toEqual([
      false,
      before,
      [],
    ])
    await fixture.close()
  })

  it('while its node is away stays until the node is back', async () => {
    const fixture = await openDisruptionFixture()
    fixture.operate()
    await fixture.request('reboot-1', { nodeName: 'node-1' })
    await fixture.until('reboot-1', 'Drained')
    fixture.world.kubelet.powerOff('node-1')
    await fixture.seconds(60)
    await fixture.api.delete(nodeDisruptions, { name: 'reboot-1' })
    await fixture.seconds(60)
    expect(await blockers(fixture, 'reboot-1')).toEqual(['node/node-1 NodeAway by node-1'])
    fixture.world.kubelet.powerOn('node-1')
    await fixture.seconds(60)
    expect((await fixture.api.list(nodeDisruptions)).items).toEqual([])
    expect([await fixture.isCordoned('node-1'), await heldKeys(fixture.api)]).toEqual([false, []])
    await fixture.close()
  })

  it('and whose finalizer is taken away is looked after by the ledger: the node stays held until it is back, then is open', async () => {
    const fixture = await openDisruptionFixture()
    await fixture.addStaying('db')
    const before = await fixture.budgets()
    fixture.operate()
    const node = await fixture.nodeOf('db-0')
    await fixture.request('reboot-a', { nodeName: node })
    await fixture.until('reboot-a', 'Drained')
    fixture.world.kubelet.powerOff(node)
    await fixture.seconds(60)
    await fixture.stopOperators()
    await fixture.api.delete(nodeDisruptions, { name: 'reboot-a' })
    await fixture.api.patch(
      nodeDisruptions,
      { name: 'reboot-a' },
      { type: 'merge', body: { metadata: { finalizers: null } } },
    )
    fixture.operate()
    await fixture.seconds(120)
    expect((await heldKeys(fixture.api)).map((text) => text.replace(/ \S+ at \d+$/, ''))).toEqual([
      `node/${node} Orphaned`,
      'pdb/default/db Orphaned',
    ])
    fixture.world.kubelet.powerOn(node)
    await fixture.seconds(120)
    expect([await fixture.isCordoned(node), await fixture.budgets(), await heldKeys(fixture.api)]).toEqual([
      false,
      before,
      [],
    ])
    await fixture.close()
  })
})

describe('a deadline', () => {
  it('that passes while the request waits rejects it, with nothing touched', async () => {
    const fixture = await openDisruptionFixture()
    fixture.operate()
    await fixture.request('first', { nodeName: 'node-1' })
    await fixture.until('first', 'Drained')
    const deadline = new Date(fixture.clock.now() + 30_000).toISOString()
    await fixture.request('late', { nodeName: 'node-1', deadline })
    await fixture.until('late', 'Rejected', 40)
    expect((await fixture.api.get(disruptionLedgers, { name: 'cluster' })).status?.tickets).toEqual([])
    await fixture.close()
  })

  it('that passes while pods are being evicted gives the node back', async () => {
    const fixture = await openDisruptionFixture()
    await fixture.addLeaving('web', { replicas: 3, maxUnavailable: 0 })
    fixture.operate()
    const nodeName = (await fixture.podsOf('web'))[0]?.spec.nodeName ?? ''
    const deadline = new Date(fixture.clock.now() + 60_000).toISOString()
    await fixture.request('late', { nodeName, deadline })
    await fixture.until('late', 'Draining', 10)
    await fixture.until('late', 'Rejected', 90)
    expect([await fixture.isCordoned(nodeName), await heldKeys(fixture.api)]).toEqual([false, []])
    await fixture.close()
  })
})

describe('pods that cannot be evicted', () => {
  it('are named with the words of the API server, asked for every five seconds, and never deleted', async () => {
    const fixture = await openDisruptionFixture()
    await fixture.addLeaving('web', { replicas: 1, maxUnavailable: 0 })
    await fixture.addLeaving('twice', { replicas: 1, maxUnavailable: 1 })
    await fixture.api.create(podDisruptionBudgets, {
      ...budget('twice', { maxUnavailable: 1 }),
      metadata: { name: 'more', namespace: 'default' },
    })
    await fixture.seconds(5)
    const [web] = await fixture.podsOf('web')
    const [twice] = await fixture.podsOf('twice')
    fixture.operate()
    await fixture.request('a', { nodeName: web?.spec.nodeName ?? '' })
    await fixture.request('b', { nodeName: twice?.spec.nodeName ?? '' })
    await fixture.seconds(61)
    const name = web?.spec.nodeName === twice?.spec.nodeName ? 'a' : 'b'
    const { status } = await fixture.disruption(name)
    expect(status?.blockedBy).toContainEqual({
      object: `pod/default/${twice?.metadata.name}`,
      holder: 'the API server',
      since: expect.any(String),
      reason: 'BudgetOverlap',
      wayOut:
        'Retried every 5 s; refused with: This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    })
    expect((await fixture.disruption('a')).status?.blockedBy).toContainEqual({
      object: `pod/default/${web?.metadata.name}`,
      holder: 'the API server',
      since: expect.any(String),
      reason: 'BudgetExhausted',
      wayOut: 'Retried every 5 s; refused with: The disruption budget web needs 1 healthy pods and has 1 currently',
    })
    const refused = /evictions_total\{result="refused"\} (\d+)/.exec(await fixture.metrics.registry.metrics())?.[1]
    expect(Number(refused)).toBeGreaterThan(20)
    expect(Number(refused)).toBeLessThan(28)
    expect((await fixture.api.list(pods)).items.every(({ metadata }) => metadata.deletionTimestamp === undefined)).toBe(
      true,
    )
    await fixture.close()
  })
})

describe('a request to remove a node', () => {
  it('evicts pods that would stay for a reboot, says so, and is done when the node is gone', async () => {
    const fixture = await openDisruptionFixture({ nodeCount: 4 })
    await fixture.addStaying('db')
    fixture.operate()
    const node = await fixture.nodeOf('db-0')
    await fixture.request('remove-a', { nodeName: node, intent: 'Remove' })
    await fixture.until('remove-a', 'Drained')
    expect(await fixture.podsOn(node)).toEqual([])
    expect((await fixture.disruption('remove-a')).status?.warnings).toBeUndefined()
    await fixture.api.delete(nodes, { name: node })
    await fixture.until('remove-a', 'Completed')
    expect(await heldKeys(fixture.api)).toEqual([])
    await fixture.close()
  })
})

describe('locks that cannot be had', () => {
  it('are not given up while another request is first: who waits long for its turn keeps the pods that stay', async () => {
    const fixture = await openDisruptionFixture({ nodeCount: 5 })
    await fixture.addStaying('db')
    fixture.operate()
    const [a, b] = [await fixture.nodeOf('db-0'), await fixture.nodeOf('db-1')]
    await fixture.request('first', { nodeName: a })
    await fixture.until('first', 'Drained')
    await fixture.request('second', { nodeName: b, fallbackAfter: '2m' })
    await fixture.seconds(100)
    expect(await fixture.phaseOf('second')).toBe('Waiting')
    fixture.world.kubelet.reboot(a, 120)
    await fixture.until('first', 'Completed')
    await fixture.until('second', 'Drained')
    expect(await fixture.podsOn(b)).toEqual(['db-1'])
    expect((await fixture.disruption('second')).status?.hasFallenBack).toBeUndefined()
    await fixture.close()
  })
})

describe('annotations that mean nothing', () => {
  it('are named on the record, and hold nobody up', async () => {
    const fixture = await openDisruptionFixture()
    await fixture.addStaying('db')
    const body = { metadata: { annotations: { 'cofferdam.io/lock': 'forever', 'cofferdam.io/held-by': 'me' } } }
    await fixture.api.patch(podDisruptionBudgets, { namespace: 'default', name: 'db' }, { type: 'merge', body })
    fixture.operate()
    const made = await fixture.request('reboot-a', { nodeName: await fixture.nodeOf('db-0') })
    const annotations = { 'cofferdam.io/break-glass': '{"by":"eve"}' }
    await fixture.api.patch(
      nodeDisruptions,
      { name: made.metadata.name },
      { type: 'merge', body: { metadata: { annotations } } },
    )
    await fixture.until('reboot-a', 'Drained')
    await fixture.seconds(30)
    expect((await fixture.disruption('reboot-a')).status?.warnings).toEqual([
      {
        object: 'nodedisruption/reboot-a',
        says: 'annotation cofferdam.io/break-glass does not say by whom and why; it breaks nothing',
      },
      { object: 'pdb/default/db', says: 'annotation cofferdam.io/lock of db is not JSON; it does not lock' },
    ])
    await fixture.close()
  })
})

describe('a record that somebody edits', () => {
  const edits: Record<string, Record<string, unknown>> = {
    'to be completed while the node is drained': { phase: 'Completed' },
    'to have never begun': { phase: 'Pending', bootIDBefore: null, cordonedBy: null, epoch: null, skippedPods: null },
    'to be another node\u2019s': { nodeUid: 'another' },
    'to an epoch that was never given': { epoch: 900_000 },
  }

  it.each(Object.entries(edits))('%s leads to nothing but an orderly end', async (_, status) => {
    const fixture = await openDisruptionFixture()
    await fixture.addStaying('db')
    const before = await fixture.budgets()
    fixture.operate()
    const node = await fixture.nodeOf('db-0')
    await fixture.request('reboot-a', { nodeName: node })
    await fixture.until('reboot-a', 'Drained')
    await fixture.api.patch(
      nodeDisruptions,
      { name: 'reboot-a' },
      { type: 'merge', body: { status } as never },
      { subresource: 'status' },
    )
    await fixture.seconds(30)
    if (await fixture.isCordoned(node)) fixture.world.kubelet.reboot(node, 60)
    await fixture.seconds(180)
    expect([await fixture.isCordoned(node), await fixture.budgets(), await heldKeys(fixture.api)]).toEqual([
      false,
      before,
      [],
    ])
    await fixture.close()
  })
})

describe.each(['spec', 'settle'] as const)('in mode %s', (mode) => {
  it('a budget is held for the pod that stays, and is as before in the end', async () => {
    const fixture = await openDisruptionFixture()
    await fixture.addStaying('db')
    const before = await fixture.budgets()
    fixture.operate({ drainLock: { mode } })
    const node = await fixture.nodeOf('db-0')
    await fixture.request('reboot-a', { nodeName: node })
    await fixture.until('reboot-a', 'Drained')
    expect(await fixture.budgets()).toEqual([
      mode === 'spec'
        ? 'db (0): 0 of 3 held by nodedisruption/reboot-a'
        : 'db (1): 1 of 3 held by nodedisruption/reboot-a',
    ])
    fixture.world.kubelet.reboot(node, 60)
    await fixture.until('reboot-a', 'Completed')
    await fixture.seconds(5)
    expect([await fixture.podsOn(node), await fixture.budgets()]).toEqual([['db-0'], before])
    await fixture.close()
  })
})
