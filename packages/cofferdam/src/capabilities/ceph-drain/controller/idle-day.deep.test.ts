import { expect, it } from 'vitest'
import { openCephStage } from '../testing/ceph-stage.ts'

it('an idle cluster costs no write and at most one question to Ceph a minute, over a whole day', async () => {
  const stage = await openCephStage()
  stage.operate()
  await stage.seconds(120)
  stage.written.length = 0
  stage.asked.length = 0
  const minutes = 24 * 60
  await stage.seconds(minutes * 60)
  expect(stage.written).toEqual([])
  expect(new Set(stage.asked)).toEqual(new Set(['status']))
  expect(stage.asked.length).toBeLessThanOrEqual(minutes)
  await stage.close()
}, 120_000)
