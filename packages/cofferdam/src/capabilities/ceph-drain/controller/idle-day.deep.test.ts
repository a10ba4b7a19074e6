import { expect, it } from 'vitest'
import { openCephFixture } from '../testing/ceph-fixture.ts'

it('an idle cluster costs no write and at most one question to Ceph a minute, over a whole day', async () => {
  const fixture = await openCephFixture()
  fixture.operate()
  await fixture.seconds(120)
  fixture.written.length = 0
  fixture.asked.length = 0
  const minutes = 24 * 60
  await fixture.seconds(minutes * 60)
  expect(fixture.written).toEqual([])
  expect(new Set(fixture.asked)).toEqual(new Set(['status']))
  expect(fixture.asked.length).toBeLessThanOrEqual(minutes)
  await fixture.close()
})
