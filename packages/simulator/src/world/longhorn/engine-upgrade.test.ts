import { longhornNamespace, longhornReplicas } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { afterEach, expect, it } from 'vitest'
import { type LonghornStage, openLonghorn } from './testing/longhorn-stage.ts'

let stage: LonghornStage
afterEach(() => stage.stop())

const next = 'longhornio/longhorn-engine:v1.13.0'

async function open(count: number): Promise<void> {
  stage = await openLonghorn({ volumes: [{ name: 'db', numberOfReplicas: count, filled: 0.25, placedOn: ['node-1'] }] })
  await stage.controls.attach('db', 'node-3')
  await stage.until(async () => (await stage.volume('db')).status?.state === 'attached', 30)
  stage.controls.writeData('db')
}

const activeNames = async () =>
  (await stage.replicasOf('db')).filter(({ spec }) => spec?.active === true).map(({ metadata }) => metadata.name)

it('every replica gets an inactive double over its directory; then the double is the live one, with all data, and the old one is gone', async () => {
  await open(3)
  const before = await activeNames()
  await stage.controls.upgradeEngine('db', next)
  await stage.seconds(2)
  const doubled = await stage.replicasOf('db')
  expect([doubled.length, await activeNames()]).toEqual([6, before])
  expect(new Set(doubled.map(({ spec }) => spec?.dataDirectoryName)).size).toBe(3)
  stage.controls.writeData('db')
  await stage.seconds(20)
  const after = await stage.replicasOf('db')
  expect([after.length, (await activeNames()).filter((name) => before.includes(name))]).toEqual([3, []])
  expect((await stage.volume('db')).status).toMatchObject({ currentImage: next, robustness: 'healthy' })
  stage.controls.writeData('db')
  expect(stage.controls.verify('db')).toMatchObject({ isIntact: true, healthy: [{}, {}, {}] })
})

it('the live replica that is deleted meanwhile takes the data directory with it, and its double has nothing', async () => {
  await open(1)
  const [only = ''] = await activeNames()
  await stage.controls.upgradeEngine('db', next)
  await stage.seconds(2)
  await stage.api.delete(longhornReplicas, { namespace: longhornNamespace, name: only })
  await stage.seconds(60)
  expect(stage.controls.verify('db').isIntact).toBe(false)
})

it('the double that is deleted meanwhile takes nothing with it, and is made again', async () => {
  await open(1)
  const [only = ''] = await activeNames()
  await stage.controls.upgradeEngine('db', next)
  await stage.seconds(2)
  const double = (await stage.replicasOf('db')).find(({ metadata }) => metadata.name !== only)?.metadata.name ?? ''
  await stage.api.delete(longhornReplicas, { namespace: longhornNamespace, name: double })
  await stage.seconds(30)
  expect((await stage.volume('db')).status?.currentImage).toBe(next)
  expect([await stage.replicasOf('db'), stage.controls.verify('db')]).toMatchObject([[{}], { isIntact: true }])
})

it('a detached volume changes its image without any double', async () => {
  await open(2)
  await stage.controls.detach('db')
  await stage.until(async () => (await stage.volume('db')).status?.state === 'detached', 30)
  await stage.controls.upgradeEngine('db', next)
  await stage.seconds(5)
  expect((await stage.volume('db')).status?.currentImage).toBe(next)
  expect(await stage.replicasOf('db')).toHaveLength(2)
  expect(stage.controls.verify('db').isIntact).toBe(true)
})
