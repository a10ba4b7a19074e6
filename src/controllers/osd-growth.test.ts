import { afterEach, beforeEach, expect, it } from 'vitest'
import { type OsdGrowthStage, openOsdGrowthStage } from './testing/osd-growth-stage.ts'

let stage: OsdGrowthStage
beforeEach(async () => {
  stage = await openOsdGrowthStage()
})
afterEach(async () => {
  await stage.close()
  expect(stage.failures).toEqual([])
})

const operate = () => stage.operate({ controllers: ['osd-growth'] })

it('a disk that is put into a node becomes an OSD that is up and holds data', async () => {
  operate()
  await stage.grow({ 'node-x': 'sdz' })
  expect(await stage.until(async () => (await stage.up()).length === 7, 120)).toBe(true)
  await stage.watch(60)
  expect(await stage.ids()).toEqual([0, 1, 2, 3, 4, 5, 6])
  expect([await stage.jobs(), await stage.statuses()]).toEqual([
    [],
    ['node-x: completed, used', 'node-y: completed, used', 'node-z: completed, used'],
  ])
  expect(await stage.told()).toEqual(['Normal OsdPrepareStarted', 'Normal OsdAdded'])
  expect(await stage.notes('OsdAdded')).toEqual(['added osd.6 on node-x'])
})
