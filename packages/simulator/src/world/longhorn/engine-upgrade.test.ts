import { longhornNamespace, longhornReplicas } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { afterEach, expect, it } from 'vitest'
import { type LonghornFixture, openLonghorn } from './testing/longhorn-fixture.ts'

let fixture: LonghornFixture
afterEach(() => fixture.stop())

const next = 'longhornio/longhorn-engine:v1.13.0'

async function open(count: number): Promise<void> {
  fixture = await openLonghorn({
    volumes: [{ name: 'db', numberOfReplicas: count, filled: 0.25, placedOn: ['node-1'] }],
  })
  await fixture.controls.attach('db', 'node-3')
  await fixture.until(async () => (await fixture.volume('db')).status?.state === 'attached', 30)
  fixture.controls.writeData('db')
}

const activeNames = async () =>
  (await fixture.replicasOf('db')).filter(({ spec }) => spec?.active === true).map(({ metadata }) => metadata.name)

it('every replica gets an inactive double over its directory; then the double is the live one, with all data, and the old one is gone', async () => {
  await open(3)
  const before = await activeNames()
  await fixture.controls.upgradeEngine('db', next)
  await fixture.seconds(2)
  const doubled = await fixture.replicasOf('db')
  expect([doubled.length, await activeNames()]).toEqual([6, before])
  expect(new Set(doubled.map(({ spec }) => spec?.dataDirectoryName)).size).toBe(3)
  fixture.controls.writeData('db')
  await fixture.seconds(20)
  const after = await fixture.replicasOf('db')
  expect([after.length, (await activeNames()).filter((name) => before.includes(name))]).toEqual([3, []])
  expect((await fixture.volume('db')).status).toMatchObject({ currentImage: next, robustness: 'healthy' })
  fixture.controls.writeData('db')
  expect(fixture.controls.verify('db')).toMatchObject({ isIntact: true, healthy: [{}, {}, {}] })
})

it('the live replica that is deleted meanwhile takes the data directory with it, and its double has nothing', async () => {
  await open(1)
  const [only = ''] = await activeNames()
  await fixture.controls.upgradeEngine('db', next)
  await fixture.seconds(2)
  await fixture.api.delete(longhornReplicas, { namespace: longhornNamespace, name: only })
  await fixture.seconds(60)
  expect(fixture.controls.verify('db').isIntact).toBe(false)
})

it('the double that is deleted meanwhile takes nothing with it, and is made again', async () => {
  await open(1)
  const [only = ''] = await activeNames()
  await fixture.controls.upgradeEngine('db', next)
  await fixture.seconds(2)
  const double = (await fixture.replicasOf('db')).find(({ metadata }) => metadata.name !== only)?.metadata.name ?? ''
  await fixture.api.delete(longhornReplicas, { namespace: longhornNamespace, name: double })
  await fixture.seconds(30)
  expect((await fixture.volume('db')).status?.currentImage).toBe(next)
  expect([await fixture.replicasOf('db'), fixture.controls.verify('db')]).toMatchObject([[{}], { isIntact: true }])
})

it('a detached volume changes its image without any double', async () => {
  await open(2)
  await fixture.controls.detach('db')
  await fixture.until(async () => (await fixture.volume('db')).status?.state === 'detached', 30)
  await fixture.controls.upgradeEngine('db', next)
  await fixture.seconds(5)
  expect((await fixture.volume('db')).status?.currentImage).toBe(next)
  expect(await fixture.replicasOf('db')).toHaveLength(2)
  expect(fixture.controls.verify('db').isIntact).toBe(true)
})
