import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { longhornNamespace, longhornNodes } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'
import { describe, expect, it } from 'vitest'
import { type NodeDisruption, nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import { drainPolicyLabel } from '../domain/policy.ts'
import { type GuidedLonghorn, openGuidedLonghorn } from '../testing/longhorn-guided.ts'

const last = 'block-if-contains-last-replica'
const pair = { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }
const slowly = { rebuildBytesPerSecond: 16 * 1024 ** 2 }
const moving = { 'wanted-policy': 'block-for-eviction', trigger: 'drain' }

/**
 * As kubectl does: cordons, then evicts all there is again and again until it is gone. The pod that uses the volume goes
 * to node-2. Tells how the volume was meanwhile.
 */
async function drain(fixture: GuidedLonghorn, node: string): Promise<Set<string>> {
  const health = new Set<string>()
  await fixture.cordon(node)
  await fixture.markDrained(node)
  const evict = async () => {
    health.add((await fixture.volume('db')).status?.robustness ?? '')
    return (await fixture.evict(node)) === 'going'
  }
  expect(await evict()).toBe(false)
  await fixture.seconds(1)
  await fixture.controls.detach('db')
  await fixture.controls.attach('db', 'node-2')
  await fixture.until(evict)
  return health
}

describe('a guide of a Longhorn that decides drains itself', () => {
  it('has replicas moved while a node is drained, the volume never degraded, and puts the policy back', async () => {
    const fixture = await openGuidedLonghorn({ volumes: [pair], timings: slowly }, moving)
    const { controls, cordon, levers, markDrained, placesOf, seconds, told, until, written } = fixture
    const stop = fixture.operate()
    await controls.attach('db', 'node-1')
    await seconds(30)
    await cordon('node-1')
    await seconds(120)
    expect(await levers()).toEqual([last])
    expect(await placesOf('db')).toEqual(['node-1', 'node-2'])
    expect(written).toEqual([])

    const health = await drain(fixture, 'node-1')
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
    fixture.stop()
  })

  it('asks for a node where only one volume wants to move, and takes that back on uncordon', async () => {
    const labels = { [drainPolicyLabel]: 'block-for-eviction' }
    const other = { ...pair, name: 'web' }
    const fixture = await openGuidedLonghorn({ volumes: [{ ...pair, labels }, other], timings: slowly }, {})
    const { controls, cordon, levers, placesOf, seconds, told, until, written } = fixture
    const stop = fixture.operate()
    await controls.attach('db', 'node-2')
    await controls.attach('web', 'node-2')
    await seconds(30)
    await cordon('node-1')
    await seconds(10)
    const asked = 'node-1 evict=true schedule=false asked={"disks":{"default-disk":{"allowScheduling":true}}}'
    expect(await levers()).toEqual([last, asked])
    await until(async () => (await placesOf('db')).join() === 'node-2,node-3')
    await until(async () => (await fixture.evict('node-1')) === 'going', 60)
    expect(await levers()).toEqual([last, asked])
    await cordon('node-1', false)
    await seconds(10)
    expect(await levers()).toEqual([last])
    expect(await told('node-1')).toContain('DiskEvictionAsked')
    expect(await told('node-1')).toContain('DiskEvictionWithdrawn')
    expect(written.filter((line) => line.includes('spec'))).toEqual([
      'patch nodes/node-1 spec.disks',
      'patch nodes/node-1 spec.disks',
    ])
    expect(written.filter((line) => !/^patch (nodes|settings)\//.test(line) || line.includes('status'))).toEqual([])
    await stop()
    fixture.stop()
  })

  it('heeds an administrator who withdraws the eviction: it is not asked for again, and the node opens at the end', async () => {
    const labels = { [drainPolicyLabel]: 'block-for-eviction' }
    const fixture = await openGuidedLonghorn({ volumes: [{ ...pair, labels }], timings: slowly }, {})
    const { api, controls, cordon, levers, seconds } = fixture
    const stop = fixture.operate()
    await controls.attach('db', 'node-2')
    await seconds(30)
    await cordon('node-1')
    await seconds(5)
    const key = { namespace: longhornNamespace, name: 'node-1' }
    await api.patch(longhornNodes, key, {
      type: 'merge',
      body: { spec: { disks: { 'default-disk': { evictionRequested: false } } } } as never,
    })
    await seconds(120)
    expect(await levers()).toEqual([
      last,
      'node-1 evict=false schedule=false asked={"disks":{"default-disk":{"allowScheduling":true,"yielded":true}}}',
    ])
    await cordon('node-1', false)
    await seconds(5)
    expect(await levers()).toEqual([last])
    await stop()
    fixture.stop()
  })

  it('that is told to stop takes everything back at once', async () => {
    const labels = { [drainPolicyLabel]: 'block-for-eviction' }
    const fixture = await openGuidedLonghorn(
      { volumes: [{ ...pair, labels }], timings: slowly },
      { 'wanted-policy': 'allow-if-replica-is-stopped' },
    )
    const { annotate, controls, cordon, levers, seconds } = fixture
    const stop = fixture.operate()
    await controls.attach('db', 'node-2')
    await seconds(30)
    await cordon('node-1')
    await seconds(5)
    expect(await levers()).toEqual([
      `allow-if-replica-is-stopped restores ${last}`,
      'node-1 evict=true schedule=false asked={"disks":{"default-disk":{"allowScheduling":true}}}',
    ])
    await annotate({ manage: null })
    await seconds(5)
    expect(await levers()).toEqual([last])
    await stop()
    fixture.stop()
  })

  it('has the policy in force before an announced drain cordons, so that Longhorn never lets go too early', async () => {
    const fixture = await openGuidedLonghorn({ volumes: [pair], timings: slowly }, moving)
    const { api, controls, cordon, levers, placesOf, seconds, until, volume } = fixture
    const stop = fixture.operate()
    await controls.attach('db', 'node-2')
    await seconds(30)
    const announced = {
      apiVersion: 'cofferdam.io/v1alpha1',
      kind: 'NodeDisruption',
      metadata: { name: 'replace-node-1' },
      spec: { nodeName: 'node-1', intent: 'Remove' },
    } as NodeDisruption
    await api.create(nodeDisruptions, announced)
    await seconds(5)
    expect(await levers()).toEqual([`block-for-eviction restores ${last}`])
    await cordon('node-1')
    const health = new Set<string | undefined>()
    await until(async () => {
      health.add((await volume('db')).status?.robustness)
      return (await fixture.evict('node-1')) === 'going'
    })
    expect(health).toEqual(new Set(['healthy']))
    expect(await placesOf('db')).toEqual(['node-2', 'node-3'])
    await api.delete(nodeDisruptions, { name: announced.metadata.name })
    await cordon('node-1', false)
    await seconds(5)
    expect(await levers()).toEqual([last])
    await stop()
    fixture.stop()
  })

  it('tells where Longhorn was faster than the guide, and leaves the policy that somebody chose meanwhile', async () => {
    const fixture = await openGuidedLonghorn({ volumes: [pair], timings: { rebuildBytesPerSecond: 1 } }, moving)
    const { controls, cordon, eventsAbout, levers, markDrained, seconds, setting, told } = fixture
    const stop = fixture.operate()
    await controls.attach('db', 'node-2')
    await seconds(30)
    await cordon('node-1')
    await seconds(30)
    await markDrained('node-1')
    await seconds(5)
    expect(await levers()).toEqual([`block-for-eviction restores ${last}`])
    const warned = (await eventsAbout('node-drain-policy')).filter((event) => event.startsWith('Warning'))
    expect(warned).toEqual([
      expect.stringMatching(/^Warning ObjectsUnusable x1: node\/node-1: Longhorn has let it go .*replica\/db-r-/),
    ])
    await setting('node-drain-policy', 'always-allow')
    await seconds(120)
    await markDrained('node-1', false)
    await cordon('node-1', false)
    await seconds(5)
    expect(await levers()).toEqual(['always-allow'])
    expect(await told('node-drain-policy')).toEqual(['PolicyPutInForce', 'ObjectsUnusable', 'GuideYields'])
    await stop()
    fixture.stop()
  })

  it('is stopped by no refused write: the others are done, and the right that is missing is told', async () => {
    const labels = { [drainPolicyLabel]: 'block-for-eviction' }
    const fixture = await openGuidedLonghorn(
      { volumes: [{ ...pair, labels }], timings: slowly },
      { 'wanted-policy': 'allow-if-replica-is-stopped' },
    )
    const { api, controls, cordon, levers, seconds, told } = fixture
    const stop = fixture.operate(
      changedApi(api, {
        patch(type, key, patch, options) {
          if (type.plural === 'settings') throw new ApiError('Forbidden', 'cannot patch settings.longhorn.io')
          return api.patch(type, key, patch, options)
        },
      }),
    )
    await controls.attach('db', 'node-2')
    await seconds(30)
    await cordon('node-1')
    await seconds(60)
    expect(await levers()).toEqual([
      last,
      'node-1 evict=true schedule=false asked={"disks":{"default-disk":{"allowScheduling":true}}}',
    ])
    expect((await told('node-drain-policy')).filter((reason) => reason === 'RightsMissing')).toHaveLength(1)
    await cordon('node-1', false)
    await seconds(60)
    expect(await levers()).toEqual([last])
    await stop()
    fixture.stop()
  })

  it('names the replica on which Longhorn is stuck, once, after a minute', async () => {
    const triple = { ...pair, numberOfReplicas: 3, placedOn: ['node-1', 'node-2', 'node-3'] }
    const fixture = await openGuidedLonghorn({ volumes: [triple] }, {})
    const { api, controls, cordon, eventsAbout, replicasOf, seconds, world } = fixture
    const stop = fixture.operate()
    await controls.attach('db', 'node-1')
    await seconds(5)
    await controls.detach('db')
    await seconds(5)
    world.kubelet.powerOff('node-3')
    await api.delete(nodes, { name: 'node-3' })
    await cordon('node-2')
    await seconds(50)
    const told = async () => (await eventsAbout('node-2')).filter((event) => event.includes('LonghornStuck'))
    expect(await told()).toEqual([])
    await seconds(300)
    const [lost] = (await replicasOf('db')).filter(({ spec }) => spec?.nodeID === 'node-3')
    const name = lost?.metadata.name ?? ''
    expect(await told()).toEqual([expect.stringContaining(`Warning LonghornStuck x1: Nothing holds node node-2`)])
    expect((await told())[0]).toContain(`Delete replica ${name} `)
    await stop()
    fixture.stop()
  })

  it('names the manager that does not request the moves of its node, once, after a minute: it was said that they are copied', async () => {
    const fixture = await openGuidedLonghorn({ volumes: [pair] }, { 'wanted-policy': 'block-for-eviction' })
    const { controls, cordon, eventsAbout, seconds, told } = fixture
    const stop = fixture.operate()
    await controls.attach('db', 'node-2')
    await seconds(5)
    controls.setManager('node-1', false)
    await cordon('node-1')
    await seconds(50)
    expect((await told('node-1')).filter((each) => !each.includes('Policy'))).toEqual(['ReplicaMustLeave'])
    await seconds(300)
    const stuck = (await eventsAbout('node-1')).filter((event) => event.includes('LonghornStuck'))
    expect(stuck).toEqual([expect.stringContaining('no longhorn-manager pod is ready on that node')])
    controls.setManager('node-1', true)
    await seconds(60)
    expect((await told('node-1')).slice(-2)).toEqual(['ReplicaMoving', 'ReplicasProtected'])
    await stop()
    fixture.stop()
  })
})
