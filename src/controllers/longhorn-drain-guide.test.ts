import { describe, expect, it } from 'vitest'
import { longhornNamespace, longhornNodes } from '../api/longhorn.ts'
import { drainPolicyLabel } from '../domain/longhorn-drain/policy.ts'
import { dyingAfter } from './testing/dying-after.ts'
import { type GuidedLonghorn, openGuidedLonghorn } from './testing/longhorn-guided.ts'

const last = 'block-if-contains-last-replica'
const pair = { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }
const slowly = { rebuildBytesPerSecond: 16 * 1024 ** 2 }
const moving = { 'wanted-policy': 'block-for-eviction', trigger: 'drain' }

/**
 * As kubectl does: cordons, then evicts all there is again and again until it is gone. The pod that uses the volume goes
 * to node-2. Tells how the volume was meanwhile.
 */
async function drain(stage: GuidedLonghorn, node: string): Promise<Set<string>> {
  const health = new Set<string>()
  await stage.cordon(node)
  await stage.markDrained(node)
  const evict = async () => {
    health.add((await stage.volume('db')).status?.robustness ?? '')
    return (await stage.evict(node)) === 'going'
  }
  expect(await evict()).toBe(false)
  await stage.seconds(1)
  await stage.controls.detach('db')
  await stage.controls.attach('db', 'node-2')
  await stage.until(evict)
  return health
}

describe('a guide of a Longhorn that decides drains itself', () => {
  it('has replicas moved while a node is drained, the volume never degraded, and puts the policy back', async () => {
    const stage = await openGuidedLonghorn({ volumes: [pair], timings: slowly }, moving)
    const { controls, cordon, levers, markDrained, placesOf, seconds, told, until, written } = stage
    const stop = stage.operate()
    await controls.attach('db', 'node-1')
    await seconds(30)
    await cordon('node-1')
    await seconds(120)
    expect(await levers()).toEqual([last])
    expect(await placesOf('db')).toEqual(['node-1', 'node-2'])
    expect(written).toEqual([])

    const health = await drain(stage, 'node-1')
    health.delete('unknown')
    expect(health).toEqual(new Set(['healthy']))
    expect(await placesOf('db')).toEqual(['node-2', 'node-3'])
    await markDrained('node-1', false)
    await cordon('node-1', false)
    await until(async () => (await levers()).join() === last, 60)
    await seconds(120)
    expect(controls.verify('db').isIntact).toBe(true)
    expect(await told('node-drain-policy')).toEqual(['PolicyPutInForce', 'PolicyRestored'])
    expect(written).toEqual([
      'patch settings/node-drain-policy value',
      'patch nodes/node-1',
      'patch nodes/node-1',
      'patch settings/node-drain-policy value',
    ])
    await stop()
    stage.stop()
  })

  it('asks for a node where only one volume wants to move, and takes that back on uncordon', async () => {
    const labels = { [drainPolicyLabel]: 'block-for-eviction' }
    const other = { ...pair, name: 'web' }
    const stage = await openGuidedLonghorn({ volumes: [{ ...pair, labels }, other], timings: slowly }, {})
    const { controls, cordon, levers, placesOf, seconds, told, until, written } = stage
    const stop = stage.operate()
    await controls.attach('db', 'node-2')
    await controls.attach('web', 'node-2')
    await seconds(30)
    await cordon('node-1')
    await seconds(10)
    const asked = 'node-1 evict=true schedule=false asked={"allowScheduling":true}'
    expect(await levers()).toEqual([last, asked])
    await until(async () => (await placesOf('db')).join() === 'node-2,node-3')
    await until(async () => (await stage.evict('node-1')) === 'going', 60)
    expect(await levers()).toEqual([last, asked])
    await cordon('node-1', false)
    await seconds(10)
    expect(await levers()).toEqual([last])
    expect(await told('node-1')).toContain('NodeEvictionAsked')
    expect(await told('node-1')).toContain('NodeEvictionWithdrawn')
    expect(written.filter((line) => line.includes('spec'))).toEqual([
      'patch nodes/node-1 spec.evictionRequested spec.allowScheduling',
      'patch nodes/node-1 spec.evictionRequested spec.allowScheduling',
    ])
    expect(written.filter((line) => !/^patch (nodes|settings)\//.test(line) || line.includes('status'))).toEqual([])
    await stop()
    stage.stop()
  })

  it('heeds an administrator who withdraws the eviction: it is not asked for again, and the node opens at the end', async () => {
    const labels = { [drainPolicyLabel]: 'block-for-eviction' }
    const stage = await openGuidedLonghorn({ volumes: [{ ...pair, labels }], timings: slowly }, {})
    const { api, controls, cordon, levers, seconds } = stage
    const stop = stage.operate()
    await controls.attach('db', 'node-2')
    await seconds(30)
    await cordon('node-1')
    await seconds(5)
    const key = { namespace: longhornNamespace, name: 'node-1' }
    await api.patch(longhornNodes, key, { type: 'merge', body: { spec: { evictionRequested: false } } })
    await seconds(120)
    expect(await levers()).toEqual([
      last,
      'node-1 evict=false schedule=false asked={"allowScheduling":true,"yielded":true}',
    ])
    await cordon('node-1', false)
    await seconds(5)
    expect(await levers()).toEqual([last])
    await stop()
    stage.stop()
  })

  it('that is told to stop takes everything back at once', async () => {
    const labels = { [drainPolicyLabel]: 'block-for-eviction' }
    const stage = await openGuidedLonghorn(
      { volumes: [{ ...pair, labels }], timings: slowly },
      { 'wanted-policy': 'allow-if-replica-is-stopped' },
    )
    const { annotate, controls, cordon, levers, seconds } = stage
    const stop = stage.operate()
    await controls.attach('db', 'node-2')
    await seconds(30)
    await cordon('node-1')
    await seconds(5)
    expect(await levers()).toEqual([
      `allow-if-replica-is-stopped restores ${last}`,
      'node-1 evict=true schedule=false asked={"allowScheduling":true}',
    ])
    await annotate({ manage: null })
    await seconds(5)
    expect(await levers()).toEqual([last])
    await stop()
    stage.stop()
  })

  it('that dies after any of its writes leaves nothing that the next one does not put back', async () => {
    const labels = { [drainPolicyLabel]: 'block-for-eviction' }
    const ends: string[] = []
    for (let writes = 0; writes < 24; writes += 1) {
      const stage = await openGuidedLonghorn(
        { volumes: [{ ...pair, labels }], timings: slowly },
        { 'wanted-policy': 'allow-if-replica-is-stopped' },
      )
      const { controls, cordon, levers, seconds } = stage
      await controls.attach('db', 'node-2')
      await seconds(10)
      const line = dyingAfter(stage.api, writes)
      const bury = stage.operate(line.api)
      await seconds(10)
      await cordon('node-1')
      await seconds(20)
      await cordon('node-1', false)
      await seconds(20)
      await bury()
      const stop = stage.operate()
      await seconds(40)
      expect(await levers()).toEqual([last])
      await stop()
      stage.stop()
      ends.push(line.died() ? 'died' : 'lived')
      if (!line.died()) break
    }
    expect(ends.at(-1)).toBe('lived')
    expect(ends.length).toBeGreaterThan(4)
  })
})
