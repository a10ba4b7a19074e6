import { events, nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { budget } from '@cofferdam/simulator/world/testing/story.ts'
import { describe, expect, it } from 'vitest'
import { heldKeys } from '../../../ledger/store/testing/ledger-stage.ts'
import { disruptionLedgers } from '../../../shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import { type DisruptionStage, openDisruptionStage } from '../testing/disruption-stage.ts'

/** What stands in the way, in short: object, reason, way out. */
async function blockers(stage: DisruptionStage, name: string): Promise<string[]> {
  const { status } = await stage.disruption(name)
  return (status?.blockedBy ?? []).map(({ object, reason, holder }) => `${object} ${reason} by ${holder}`)
}

async function reasonsTold(stage: DisruptionStage, kind: string): Promise<string[]> {
  const { items } = await stage.api.list(events)
  return items
    .filter(({ source, involvedObject }) => source?.component === 'cofferdam' && involvedObject.kind === kind)
    .sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
    .map(({ reason }) => reason ?? '')
}

describe('a request to reboot a node', () => {
  it('drains it around the pod that stays, waits for the reboot, and gives everything back', async () => {
    const stage = await openDisruptionStage()
    await stage.addStaying('db')
    await stage.addLeaving('web', { replicas: 2, maxUnavailable: 1 })
    stage.operate()
    await stage.seconds(2)
    const before = await stage.budgets()
    const node = await stage.nodeOf('db-0')
    await stage.request('reboot-a', { nodeName: node, reason: 'kernel' })
    await stage.until('reboot-a', 'Drained')
    expect(await stage.podsOn(node)).toEqual(['db-0'])
    expect(await stage.isCordoned(node)).toBe(true)
    expect(await stage.budgets()).toEqual([
      'db (1): 0 of 2 without db-0 held by nodedisruption/reboot-a',
      'web (1): 1 of 2',
    ])
    stage.world.kubelet.reboot(node, 90)
    await stage.until('reboot-a', 'Completed')
    await stage.seconds(5)
    expect(await stage.isCordoned(node)).toBe(false)
    expect(await stage.budgets()).toEqual(before)
    expect(await heldKeys(stage.api)).toEqual([])
    const { status, metadata } = await stage.disruption('reboot-a')
    expect(metadata.finalizers).toBeUndefined()
    expect(status).toMatchObject({
      phase: 'Completed',
      skippedPods: [{ name: 'db-0' }],
      lockedBudgets: [{ name: 'db' }],
      cordonedBy: 'nodedisruption/reboot-a, lifted',
    })
    expect(await reasonsTold(stage, 'NodeDisruption')).toEqual([
      'LocksAsked',
      'LocksPending',
      'IntentWritten',
      'PodsLeaving',
      'NodeMayGo',
      'NodeAway',
      'PodsRecovering',
      'DisruptionCompleted',
    ])
    expect(await reasonsTold(stage, 'Node')).toEqual(['IntentWritten', 'NodeMayGo', 'DisruptionCompleted'])
    const text = await stage.metrics.registry.metrics()
    expect(text).toContain('cofferdam_disruptions{phase="Completed"} 1')
    expect(text).toContain('cofferdam_disruption_evictions_total{result="granted"} 1')
    expect(text).toContain('cofferdam_disruption_waiting_seconds_count 1')
    await stage.close()
  })

  it('that is over is never looked at again', async () => {
    const stage = await openDisruptionStage()
    stage.operate()
    await stage.request('reboot-1', { nodeName: 'node-1' })
    await stage.until('reboot-1', 'Drained')
    stage.world.kubelet.reboot('node-1', 60)
    await stage.until('reboot-1', 'Completed')
    await stage.seconds(5)
    const { metadata } = await stage.disruption('reboot-1')
    const countOf = async () => {
      const text = await stage.metrics.registry.metrics()
      return /reconciles_total\{controller="node-disruption",result="done"\} (\d+)/.exec(text)?.[1]
    }
    const looks = await countOf()
    await stage.seconds(600)
    expect([await countOf(), (await stage.disruption('reboot-1')).metadata.resourceVersion]).toEqual([
      looks,
      metadata.resourceVersion,
    ])
    await stage.close()
  })

  it('while the node has nothing to be evicted says at once that it may go, and gives it back when it is uncordoned', async () => {
    const stage = await openDisruptionStage()
    stage.operate()
    await stage.request('reboot-1', { nodeName: 'node-1' })
    await stage.until('reboot-1', 'Drained', 5)
    await stage.api.patch(nodes, { name: 'node-1' }, { type: 'merge', body: { spec: { unschedulable: null } } })
    await stage.until('reboot-1', 'Completed', 10)
    expect(await heldKeys(stage.api)).toEqual([])
    await stage.close()
  })

  it('leaves a node cordoned that somebody else had cordoned before', async () => {
    const stage = await openDisruptionStage()
    stage.operate()
    await stage.api.patch(nodes, { name: 'node-1' }, { type: 'merge', body: { spec: { unschedulable: true } } })
    await stage.request('reboot-1', { nodeName: 'node-1' })
    await stage.until('reboot-1', 'Drained')
    stage.world.kubelet.reboot('node-1', 60)
    await stage.until('reboot-1', 'Completed')
    expect(await stage.isCordoned('node-1')).toBe(true)
    await stage.close()
  })

  it('for a node that does not exist is rejected, with a reason', async () => {
    const stage = await openDisruptionStage()
    stage.operate()
    await stage.request('reboot-9', { nodeName: 'node-9' })
    await stage.until('reboot-9', 'Rejected', 5)
    const { status } = await stage.disruption('reboot-9')
    expect(status?.conditions?.map(({ reason }) => reason)).toEqual(['NodeUnknown', 'NodeUnknown'])
    await stage.close()
  })
})

describe('a dry run', () => {
  it('has the first step of a request checked, and stores nothing', async () => {
    const stage = await openDisruptionStage()
    const made = await stage.request('reboot-1', { nodeName: 'node-1' })
    stage.operate({ dryRun: true })
    await stage.seconds(300)
    expect(await stage.disruption('reboot-1')).toEqual(made)
    expect([(await stage.api.list(disruptionLedgers)).items, await stage.isCordoned('node-1')]).toEqual([[], false])
    await stage.close()
  })
})

describe('two requests', () => {
  it('that need the same two budgets in any order never wedge: one goes, the other waits and goes then', async () => {
    const stage = await openDisruptionStage()
    await stage.addStaying('my-app')
    await stage.addStaying('your-app')
    stage.operate()
    await stage.request('reboot-1', { nodeName: 'node-1' })
    await stage.request('reboot-2', { nodeName: 'node-2' })
    await stage.until('reboot-1', 'Drained')
    await stage.seconds(60)
    expect(await stage.phaseOf('reboot-2')).toBe('Waiting')
    const held = (app: string) =>
      expect.stringMatching(
        new RegExp(`^pdb/default/${app} HeldByRequest by operator-\\w+ for nodedisruption/reboot-1$`),
      )
    expect(await blockers(stage, 'reboot-2')).toEqual([
      'pdb/default/my-app BudgetExhausted by nodedisruption/reboot-1',
      'pdb/default/your-app BudgetExhausted by nodedisruption/reboot-1',
      held('my-app'),
      held('your-app'),
    ])
    stage.world.kubelet.reboot('node-1', 60)
    await stage.until('reboot-1', 'Completed')
    await stage.until('reboot-2', 'Drained')
    stage.world.kubelet.reboot('node-2', 60)
    await stage.until('reboot-2', 'Completed')
    await stage.seconds(5)
    expect(await stage.budgets()).toEqual(['my-app (1): 1 of 3', 'your-app (1): 1 of 3'])
    await stage.close()
  })

  it('for one node go one after the other', async () => {
    const stage = await openDisruptionStage()
    stage.operate()
    await stage.request('first', { nodeName: 'node-1' })
    await stage.until('first', 'Drained')
    await stage.request('second', { nodeName: 'node-1' })
    await stage.until('second', 'Waiting')
    await stage.seconds(30)
    expect(await blockers(stage, 'second')).toEqual([
      expect.stringMatching(/^node\/node-1 HeldByRequest by operator-\w+ for nodedisruption\/first$/),
    ])
    stage.world.kubelet.reboot('node-1', 60)
    await stage.until('first', 'Completed')
    await stage.until('second', 'Drained')
    await stage.close()
  })
})

describe('a request that somebody deletes', () => {
  it('while its node is drained gives the node and the budgets back, and is gone', async () => {
    const stage = await openDisruptionStage()
    await stage.addStaying('db')
    const before = await stage.budgets()
    stage.operate()
    const node = await stage.nodeOf('db-0')
    await stage.request('reboot-a', { nodeName: node })
    await stage.until('reboot-a', 'Drained')
    await stage.api.delete(nodeDisruptions, { name: 'reboot-a' })
    await stage.seconds(10)
    expect((await stage.api.list(nodeDisruptions)).items).toEqual([])
    expect([await stage.isCordoned(node), await stage.budgets(), await heldKeys(stage.api)]).toEqual([
      false,
      before,
      [],
    ])
    await stage.close()
  })

  it('while its node is away stays until the node is back', async () => {
    const stage = await openDisruptionStage()
    stage.operate()
    await stage.request('reboot-1', { nodeName: 'node-1' })
    await stage.until('reboot-1', 'Drained')
    stage.world.kubelet.powerOff('node-1')
    await stage.seconds(60)
    await stage.api.delete(nodeDisruptions, { name: 'reboot-1' })
    await stage.seconds(60)
    expect(await blockers(stage, 'reboot-1')).toEqual(['node/node-1 NodeAway by node-1'])
    stage.world.kubelet.powerOn('node-1')
    await stage.seconds(60)
    expect((await stage.api.list(nodeDisruptions)).items).toEqual([])
    expect([await stage.isCordoned('node-1'), await heldKeys(stage.api)]).toEqual([false, []])
    await stage.close()
  })

  it('and whose finalizer is taken away is looked after by the ledger: the node stays held until it is back, then is open', async () => {
    const stage = await openDisruptionStage()
    await stage.addStaying('db')
    const before = await stage.budgets()
    stage.operate()
    const node = await stage.nodeOf('db-0')
    await stage.request('reboot-a', { nodeName: node })
    await stage.until('reboot-a', 'Drained')
    stage.world.kubelet.powerOff(node)
    await stage.seconds(60)
    await stage.stopOperators()
    await stage.api.delete(nodeDisruptions, { name: 'reboot-a' })
    await stage.api.patch(
      nodeDisruptions,
      { name: 'reboot-a' },
      { type: 'merge', body: { metadata: { finalizers: null } } },
    )
    stage.operate()
    await stage.seconds(120)
    expect((await heldKeys(stage.api)).map((text) => text.replace(/ \S+ at \d+$/, ''))).toEqual([
      `node/${node} Orphaned`,
      'pdb/default/db Orphaned',
    ])
    stage.world.kubelet.powerOn(node)
    await stage.seconds(120)
    expect([await stage.isCordoned(node), await stage.budgets(), await heldKeys(stage.api)]).toEqual([
      false,
      before,
      [],
    ])
    await stage.close()
  })
})

describe('a deadline', () => {
  it('that passes while the request waits rejects it, with nothing touched', async () => {
    const stage = await openDisruptionStage()
    stage.operate()
    await stage.request('first', { nodeName: 'node-1' })
    await stage.until('first', 'Drained')
    const deadline = new Date(stage.clock.now() + 30_000).toISOString()
    await stage.request('late', { nodeName: 'node-1', deadline })
    await stage.until('late', 'Rejected', 40)
    expect((await stage.api.get(disruptionLedgers, { name: 'cluster' })).status?.tickets).toEqual([])
    await stage.close()
  })

  it('that passes while pods are being evicted gives the node back', async () => {
    const stage = await openDisruptionStage()
    await stage.addLeaving('web', { replicas: 3, maxUnavailable: 0 })
    stage.operate()
    const nodeName = (await stage.podsOf('web'))[0]?.spec.nodeName ?? ''
    const deadline = new Date(stage.clock.now() + 60_000).toISOString()
    await stage.request('late', { nodeName, deadline })
    await stage.until('late', 'Draining', 10)
    await stage.until('late', 'Rejected', 90)
    expect([await stage.isCordoned(nodeName), await heldKeys(stage.api)]).toEqual([false, []])
    await stage.close()
  })
})

describe('pods that cannot be evicted', () => {
  it('are named with the words of the API server, asked for every five seconds, and never deleted', async () => {
    const stage = await openDisruptionStage()
    await stage.addLeaving('web', { replicas: 1, maxUnavailable: 0 })
    await stage.addLeaving('twice', { replicas: 1, maxUnavailable: 1 })
    await stage.api.create(podDisruptionBudgets, {
      ...budget('twice', { maxUnavailable: 1 }),
      metadata: { name: 'more', namespace: 'default' },
    })
    await stage.seconds(5)
    const [web] = await stage.podsOf('web')
    const [twice] = await stage.podsOf('twice')
    stage.operate()
    await stage.request('a', { nodeName: web?.spec.nodeName ?? '' })
    await stage.request('b', { nodeName: twice?.spec.nodeName ?? '' })
    await stage.seconds(61)
    const name = web?.spec.nodeName === twice?.spec.nodeName ? 'a' : 'b'
    const { status } = await stage.disruption(name)
    expect(status?.blockedBy).toContainEqual({
      object: `pod/default/${twice?.metadata.name}`,
      holder: 'the API server',
      since: expect.any(String),
      reason: 'BudgetOverlap',
      wayOut:
        'Retried every 5 s; refused with: This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    })
    expect((await stage.disruption('a')).status?.blockedBy).toContainEqual({
      object: `pod/default/${web?.metadata.name}`,
      holder: 'the API server',
      since: expect.any(String),
      reason: 'BudgetExhausted',
      wayOut: 'Retried every 5 s; refused with: The disruption budget web needs 1 healthy pods and has 1 currently',
    })
    const refused = /evictions_total\{result="refused"\} (\d+)/.exec(await stage.metrics.registry.metrics())?.[1]
    expect(Number(refused)).toBeGreaterThan(20)
    expect(Number(refused)).toBeLessThan(28)
    expect((await stage.api.list(pods)).items.every(({ metadata }) => metadata.deletionTimestamp === undefined)).toBe(
      true,
    )
    await stage.close()
  })
})

describe('a request to remove a node', () => {
  it('evicts pods that would stay for a reboot, says so, and is done when the node is gone', async () => {
    const stage = await openDisruptionStage({ nodeCount: 4 })
    await stage.addStaying('db')
    stage.operate()
    const node = await stage.nodeOf('db-0')
    await stage.request('remove-a', { nodeName: node, intent: 'Remove' })
    await stage.until('remove-a', 'Drained')
    expect(await stage.podsOn(node)).toEqual([])
    expect((await stage.disruption('remove-a')).status?.warnings).toBeUndefined()
    await stage.api.delete(nodes, { name: node })
    await stage.until('remove-a', 'Completed')
    expect(await heldKeys(stage.api)).toEqual([])
    await stage.close()
  })
})

describe('locks that cannot be had', () => {
  it('are given up in time, and every pod is evicted within its budget', async () => {
    const stage = await openDisruptionStage({ nodeCount: 5 })
    await stage.addStaying('db')
    stage.operate()
    const [a, b] = [await stage.nodeOf('db-0'), await stage.nodeOf('db-1')]
    await stage.request('first', { nodeName: a })
    await stage.until('first', 'Drained')
    await stage.request('second', { nodeName: b, fallbackAfter: '2m' })
    await stage.seconds(100)
    expect(await stage.phaseOf('second')).toBe('Waiting')
    stage.world.kubelet.reboot(a, 120)
    await stage.until('first', 'Completed')
    await stage.until('second', 'Drained')
    expect(await stage.podsOn(b)).toEqual([])
    expect((await stage.disruption('second')).status).toMatchObject({ hasFallenBack: true })
    await stage.close()
  })
})

describe('annotations that mean nothing', () => {
  it('are named on the record, and hold nobody up', async () => {
    const stage = await openDisruptionStage()
    await stage.addStaying('db')
    const body = { metadata: { annotations: { 'cofferdam.io/lock': 'forever', 'cofferdam.io/held-by': 'me' } } }
    await stage.api.patch(podDisruptionBudgets, { namespace: 'default', name: 'db' }, { type: 'merge', body })
    stage.operate()
    const made = await stage.request('reboot-a', { nodeName: await stage.nodeOf('db-0') })
    const annotations = { 'cofferdam.io/break-glass': '{"by":"eve"}' }
    await stage.api.patch(
      nodeDisruptions,
      { name: made.metadata.name },
      { type: 'merge', body: { metadata: { annotations } } },
    )
    await stage.until('reboot-a', 'Drained')
    await stage.seconds(30)
    expect((await stage.disruption('reboot-a')).status?.warnings).toEqual([
      {
        object: 'nodedisruption/reboot-a',
        says: 'annotation cofferdam.io/break-glass does not say by whom and why; it breaks nothing',
      },
      { object: 'pdb/default/db', says: 'annotation cofferdam.io/lock of db is not JSON; it does not lock' },
    ])
    await stage.close()
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
    const stage = await openDisruptionStage()
    await stage.addStaying('db')
    const before = await stage.budgets()
    stage.operate()
    const node = await stage.nodeOf('db-0')
    await stage.request('reboot-a', { nodeName: node })
    await stage.until('reboot-a', 'Drained')
    await stage.api.patch(
      nodeDisruptions,
      { name: 'reboot-a' },
      { type: 'merge', body: { status } as never },
      { subresource: 'status' },
    )
    await stage.seconds(30)
    if (await stage.isCordoned(node)) stage.world.kubelet.reboot(node, 60)
    await stage.seconds(180)
    expect([await stage.isCordoned(node), await stage.budgets(), await heldKeys(stage.api)]).toEqual([
      false,
      before,
      [],
    ])
    await stage.close()
  })
})

describe.each(['spec', 'settle'] as const)('in mode %s', (mode) => {
  it('a budget is held for the pod that stays, and is as before in the end', async () => {
    const stage = await openDisruptionStage()
    await stage.addStaying('db')
    const before = await stage.budgets()
    stage.operate({ drainLock: { mode } })
    const node = await stage.nodeOf('db-0')
    await stage.request('reboot-a', { nodeName: node })
    await stage.until('reboot-a', 'Drained')
    expect(await stage.budgets()).toEqual([
      mode === 'spec'
        ? 'db (0): 0 of 3 held by nodedisruption/reboot-a'
        : 'db (1): 1 of 3 held by nodedisruption/reboot-a',
    ])
    stage.world.kubelet.reboot(node, 60)
    await stage.until('reboot-a', 'Completed')
    await stage.seconds(5)
    expect([await stage.podsOn(node), await stage.budgets()]).toEqual([['db-0'], before])
    await stage.close()
  })
})
