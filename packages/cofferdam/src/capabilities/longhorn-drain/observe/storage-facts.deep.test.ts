import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { longhornNamespace, longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { customResourceDefinitions, namespaces, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { longhornDefinitions } from '@cofferdam/simulator/cluster-file/longhorn-definitions.ts'
import { createSimulatedLonghorn } from '@cofferdam/simulator/world/longhorn/simulated-longhorn.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'
import { describe, expect, it } from 'vitest'
import { createDisruption, heldKeys, installDefinitions } from '../../../ledger/store/testing/ledger-fixture.ts'
import { nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import { openCephFixture } from '../../ceph-drain/testing/ceph-fixture.ts'
import { openDisruptionFixture } from '../../drain-lock/testing/disruption-fixture.ts'
import { rebootPolicyAnnotation } from '../domain/drain-settings.ts'
import { openLonghornDisruptions, wholeCopies } from '../testing/longhorn-disruption-fixture.ts'

const key = 'storage/longhorn-system/longhorn'
const pair = { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }
const single = { name: 'solo', numberOfReplicas: 1, placedOn: ['node-1'], filled: 0.25 }
const slowly = { rebuildBytesPerSecond: 8 * 1024 ** 2 }
const moving = { 'node-drain-policy': 'block-for-eviction' }

describe.each(['observe', 'guide', 'hold'] as const)('with Longhorn in mode %s', (mode) => {
  it('two of its nodes go one after the other, and the second waits until the copies of the first are whole again', async () => {
    const fixture = await openLonghornDisruptions({ volumes: [pair], timings: slowly }, { mode })
    const { controls, request, seconds, tell, until, phaseOf, world, close } = fixture
    await controls.attach('db', 'node-3')
    fixture.operate()
    await seconds(30)
    await request('one', 'node-1')
    await request('two', 'node-2')
    await until(async () => (await phaseOf('one')) === 'Drained')
    const told: Record<string, string> = { drained: await tell('two') }
    world.kubelet.reboot('node-1', 45)
    await until(async () => (await phaseOf('one')) === 'Recovering')
    told['back'] = await tell('one')
    expect((await fixture.blockedBy('one'))[0]?.wayOut).toContain('of volume db on node node-1 is not whole again')
    expect(await wholeCopies(fixture)).toEqual(['node-2'])
    await until(async () => (await phaseOf('one')) === 'Completed')
    expect(await wholeCopies(fixture)).toEqual(['node-1', 'node-2'])
    await until(async () => (await phaseOf('two')) === 'Drained')
    expect({ ...told, intact: controls.verify('db').isIntact, fewest: await wholeCopies(fixture) }).toEqual({
      drained: `Waiting: ${key} StorageNeedsNode, ${key} HeldByRequest`,
      back: `Recovering: ${key} StorageRecovering`,
      intact: true,
      fewest: ['node-1'],
    })
    await close()
  })
})

it('a node that is removed waits for its replicas to move, says which, and keeps others waiting until it is gone', async () => {
  // Once one node is gone, two replicas on two nodes have nowhere to move.
  const notes = { [rebootPolicyAnnotation]: 'block-for-eviction-if-contains-last-replica' }
  const fixture = await openLonghornDisruptions({ volumes: [pair], settings: moving, timings: slowly }, { notes })
  const { api, controls, request, seconds, tell, until, phaseOf, placesOf, close } = fixture
  await controls.attach('db', 'node-3')
  fixture.operate()
  await seconds(30)
  const [leaving] = (await fixture.replicasOf('db')).filter(({ spec }) => spec?.nodeID === 'node-1')
  await request('one', 'node-1', 'Remove')
  await request('two', 'node-2')
  await seconds(15)
  const [first] = await fixture.blockedBy('one')
  expect(first).toMatchObject({
    object: `replica/${leaving?.metadata.name}`,
    reason: 'ReplicaMoving',
    holder: expect.stringMatching(/^pdb\/longhorn-system\/instance-manager-/u),
    wayOut: expect.stringContaining('volume db'),
  })
  expect(await tell('two')).toBe(`Waiting: ${key} HeldByRequest`)
  await until(async () => (await phaseOf('one')) === 'Drained')
  expect(await placesOf('db')).toEqual(['node-2', 'node-3'])
  expect(await tell('two')).toBe(`Waiting: ${key} HeldByRequest`)
  await api.delete(nodes, { name: 'node-1' })
  await until(async () => (await phaseOf('one')) === 'Completed')
  await until(async () => (await phaseOf('two')) === 'Drained')
  expect(controls.verify('db').isIntact).toBe(true)
  await close()
})

it('a node with the only copy of a volume is not even cordoned while the policy would leave it there', async () => {
  const fixture = await openLonghornDisruptions({ volumes: [single], timings: slowly })
  const { api, controls, request, seconds, setting, tell, until, phaseOf, close } = fixture
  await controls.attach('solo', 'node-3')
  fixture.operate()
  await seconds(30)
  await request('one', 'node-1')
  await request('two', 'node-2')
  await seconds(60)
  expect(await tell('one')).toBe(`Waiting: ${key} StorageNeedsNode`)
  expect((await fixture.blockedBy('one'))[0]?.wayOut).toContain('volume solo')
  expect((await api.get(nodes, { name: 'node-1' })).spec?.unschedulable).toBeUndefined()
  expect(await phaseOf('two')).toBe('Drained')
  await setting('node-drain-policy', 'block-for-eviction-if-contains-last-replica')
  await until(async () => (await phaseOf('one')) === 'Drained')
  expect(controls.verify('solo').isIntact).toBe(true)
  await close()
})

it('what a vanished request held stays held until the copies of its node are whole again', async () => {
  const fixture = await openLonghornDisruptions({ volumes: [pair], timings: slowly })
  const { api, controls, request, seconds, until, phaseOf, world, close } = fixture
  await controls.attach('db', 'node-3')
  fixture.operate()
  await seconds(30)
  await request('one', 'node-1')
  await until(async () => (await phaseOf('one')) === 'Drained')
  await fixture.stopOperators()
  await api.patch(nodeDisruptions, { name: 'one' }, { type: 'merge', body: { metadata: { finalizers: [] } } })
  await api.delete(nodeDisruptions, { name: 'one' })
  fixture.operate()
  await request('two', 'node-2')
  world.kubelet.reboot('node-1', 45)
  const seen = new Set<string>()
  await until(async () => {
    const held = (await heldKeys(api)).find((text) => text.startsWith(key))
    seen.add(`${held?.split(' ')[1] ?? 'free'} with ${(await wholeCopies(fixture)).length} whole`)
    return (await phaseOf('two')) === 'Draining'
  })
  expect([...seen]).toEqual(expect.arrayContaining(['Acting with 1 whole', 'Orphaned with 1 whole']))
  expect([...seen]).not.toContain('free with 1 whole')
  await close()
})

it('nothing begins while the objects of Longhorn cannot be read, and it is said which', async () => {
  const fixture = await openLonghornDisruptions({ volumes: [pair] })
  const { api, request, seconds, close } = fixture
  const blind = changedApi(api, {
    list: (type, query) =>
      type === longhornSettings
        ? Promise.reject(new ApiError('Forbidden', 'settings is forbidden'))
        : api.list(type, query),
    watch: (type, query) => {
      if (type === longhornSettings) throw new ApiError('Forbidden', 'settings is forbidden')
      return api.watch(type, query)
    },
  })
  fixture.operate({ api: blind })
  await request('one', 'node-1')
  await seconds(60)
  expect((await fixture.blockedBy('one')).map(({ object, reason, wayOut }) => ({ object, reason, wayOut }))).toEqual([
    {
      object: key,
      reason: 'SafetyUnknown',
      wayOut: "Not known yet: Longhorn's settings cannot be seen at the moment.",
    },
  ])
  await close()
})

it('where there is no Longhorn, and on its nodes without data, no key is taken', async () => {
  const bare = await openDisruptionFixture()
  bare.operate({ controllers: ['longhorn-drain', 'node-disruption', 'disruption-ledger'] })
  await bare.seconds(30)
  await bare.request('one', { nodeName: 'node-1' })
  await bare.until('one', 'Drained')
  const keysBare = (await heldKeys(bare.api)).map((text) => text.split(' ')[0])
  await bare.close()
  const fixture = await openLonghornDisruptions({ volumes: [pair] })
  fixture.operate()
  await fixture.seconds(30)
  await fixture.request('three', 'node-3')
  await fixture.until(async () => (await fixture.phaseOf('three')) === 'Drained')
  expect([keysBare, (await heldKeys(fixture.api)).map((text) => text.split(' ')[0])]).toEqual([
    ['node/node-1'],
    ['node/node-3'],
  ])
  await fixture.close()
})

it('a node with both Ceph and Longhorn needs the keys of both, and waits for whichever says no', async () => {
  const fixture = await openCephFixture()
  const { api, clock, random, seconds, world } = fixture
  await installDefinitions(api)
  await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: longhornNamespace } })
  for (const definition of longhornDefinitions()) await api.create(customResourceDefinitions, definition)
  const volume = { ...pair, placedOn: ['node-x', 'node-y'] }
  const ports = { api, clock, random, isOn: world.kubelet.isOn, onFailure() {} }
  const longhorn = createSimulatedLonghorn(ports, {
    volumes: [volume, { ...single, placedOn: ['node-z'] }],
    ownDrainHandling: true,
    timings: slowly,
  })
  await seconds(30)
  fixture.operate({ controllers: ['ceph-drain', 'longhorn-drain', 'node-disruption', 'disruption-ledger'] })
  await seconds(30)
  await createDisruption(api, 'one', 'node-x')
  await seconds(60)
  await createDisruption(api, 'two', 'node-z')
  await seconds(30)
  const { status } = await api.get(nodeDisruptions, { name: 'two' })
  const why = (status?.blockedBy ?? []).map(({ object, reason }) => `${object} ${reason}`)
  expect(new Set((await heldKeys(api)).map((text) => text.split(' ')[0]))).toEqual(
    new Set(['node/node-x', 'storage/rook-ceph/rook-ceph', key]),
  )
  expect([status?.phase, new Set(why)]).toEqual([
    'Waiting',
    new Set([
      `${key} HeldByRequest`,
      `${key} StorageNeedsNode`,
      'storage/rook-ceph/rook-ceph HeldByRequest',
      'storage/rook-ceph/rook-ceph StorageNeedsNode',
    ]),
  ])
  longhorn.stop()
  await fixture.close()
})
