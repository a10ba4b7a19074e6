import {
  longhornEngineImages,
  longhornEngines,
  longhornNamespace,
  longhornReplicas,
  longhornSettings,
  longhornVolumeAttachments,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { createSimulatedLonghorn } from './simulated-longhorn.ts'
import { type LonghornFixture, openLonghorn } from './testing/longhorn-fixture.ts'
import { releasedDefinitions, releasedKinds } from './testing/released-definitions.ts'
import { strictFor } from './testing/strict-api.ts'

const namespace = longhornNamespace
const engineImage = 'longhornio/longhorn-engine:v1.12.1'
const managerImage = 'longhornio/longhorn-instance-manager:v1.12.1'

let fixture: LonghornFixture
afterEach(() => fixture.stop())

it('lives on definitions that were there before it: what Longhorn 1.8.1 does not know is never written, or a real server would drop it unseen', async () => {
  fixture = await openLonghorn(
    { volumes: [{ name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }] },
    { definitions: releasedDefinitions('1.8'), change: strictFor('longhorn.io') },
  )
  const { api, controls, cordon, requestEviction, placesOf, seconds, until, failures } = fixture
  await controls.attach('db', 'node-3')
  await seconds(5)
  await controls.upgradeEngine('db', 'longhornio/longhorn-engine:v1.13.0')
  await until(async () => (await fixture.volume('db')).status?.currentImage?.endsWith('v1.13.0') === true, 60)
  await cordon('node-1')
  await requestEviction('node-1')
  await until(async () => (await placesOf('db')).join() === 'node-2,node-3')
  await controls.detach('db')
  await seconds(10)
  expect(failures).toEqual([])
  expect(controls.verify('db').isIntact).toBe(true)
  for (const type of releasedKinds) {
    const { items } = await api.list(type, { namespace })
    expect([type.kind, items.length > 0]).toEqual([type.kind, true])
    for (const { metadata } of items) {
      const expected = type.kind === 'Setting' || type.kind === 'InstanceManager' ? undefined : ['longhorn.io']
      expect([type.kind, metadata.finalizers]).toEqual([type.kind, expected])
    }
  }
})

it('has engine images on all nodes that are up, settings that are in force, and the image on all that runs with it', async () => {
  fixture = await openLonghorn({ volumes: [{ name: 'db', numberOfReplicas: 1, placedOn: ['node-1'] }] })
  const { api, controls, list, seconds, world } = fixture
  await controls.attach('db', 'node-2')
  await seconds(40)
  const settings = await list(longhornSettings)
  expect(settings.map(({ status }) => status)).toEqual(settings.map(() => ({ applied: true })))
  const settingOf = (name: string) => settings.find(({ metadata }) => metadata.name === name)?.value
  expect(settingOf('default-engine-image')).toBe(engineImage)
  expect(settingOf('default-instance-manager-image')).toBe(managerImage)
  const onAll = { 'node-1': true, 'node-2': true, 'node-3': true }
  expect(await list(longhornEngineImages)).toMatchObject([
    {
      metadata: { name: expect.stringMatching(/^ei-[0-9a-f]{8}$/) },
      spec: { image: engineImage },
      status: { state: 'deployed', refCount: 3, incompatible: false, nodeDeploymentMap: onAll },
    },
  ])
  const running = { spec: { image: engineImage }, status: { currentImage: engineImage } }
  for (const type of [longhornVolumes, longhornEngines, longhornReplicas])
    expect(await list(type)).toMatchObject([running])
  world.kubelet.powerOff('node-3')
  await seconds(120)
  expect((await list(longhornEngineImages))[0]?.status).toMatchObject({
    state: 'deploying',
    nodeDeploymentMap: { ...onAll, 'node-3': false },
  })
  await api.create(longhornVolumes, {
    apiVersion: 'longhorn.io/v1beta2',
    kind: 'Volume',
    metadata: { name: 'by-hand', namespace },
    spec: { size: '1073741824', numberOfReplicas: 1 },
  })
  await seconds(5)
  expect(await fixture.volume('by-hand')).toMatchObject({
    metadata: { finalizers: ['longhorn.io'] },
    spec: { image: engineImage },
  })
})

describe('what is deleted', () => {
  it('stays until Longhorn has cleared up after it: nothing of it is left when it is gone, and nothing happens without Longhorn', async () => {
    fixture = await openLonghorn({
      volumes: [{ name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 }],
    })
    const { api, clock, controls, list, longhorn, random, replicasOf, seconds, volume } = fixture
    await controls.attach('db', 'node-3')
    await seconds(5)
    const [first] = await replicasOf('db')
    longhorn.stop()
    const name = first?.metadata.name ?? ''
    await api.delete(longhornReplicas, { namespace, name })
    await api.delete(longhornVolumes, { namespace, name: 'db' })
    await seconds(300)
    for (const held of [await api.get(longhornReplicas, { namespace, name }), await volume('db')]) {
      expect(held.metadata).toMatchObject({ deletionTimestamp: expect.any(String), finalizers: ['longhorn.io'] })
    }
    expect(await replicasOf('db')).toHaveLength(2)

    const gone: string[] = []
    const stopped = [longhornVolumes, longhornReplicas, longhornEngines, longhornVolumeAttachments].map((type) =>
      fixture.server.observe(`longhorn.io/${type.plural}`, (change) => {
        if (change.type === 'DELETED') gone.push(type.kind)
      }),
    )
    const again = createSimulatedLonghorn({ api, clock, random, isOn: fixture.world.kubelet.isOn })
    await seconds(5)
    for (const stop of stopped) stop()
    again.stop()
    expect([gone.toSorted(), gone.at(-1)]).toEqual([
      ['Engine', 'Replica', 'Replica', 'Volume', 'VolumeAttachment'],
      'Volume',
    ])
    expect(await list(longhornReplicas)).toEqual([])
  })
})
