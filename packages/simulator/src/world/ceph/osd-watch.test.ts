import { expect, it } from 'vitest'
import { type OsdDumpAnswer, openCeph, smallDescription } from './testing/ceph-fixture.ts'

it('an OSD whose pod is replaced before anybody missed it is up since a new epoch, for it is another process that serves', async () => {
  const description = smallDescription({ timings: { downAfterMs: 120_000 } })
  const { ask, states, seconds, evictOsd, stop, failures } = await openCeph({ description })
  const upFrom = async (osd: number) => {
    const { osds } = await ask<OsdDumpAnswer>('osd dump')
    const { up, up_from, down_at } = osds[osd] as OsdDumpAnswer['osds'][number]
    return { up, up_from, down_at }
  }
  const before = await upFrom(0)
  const { epoch } = await ask<OsdDumpAnswer>('osd dump')
  const others = await upFrom(3)
  await evictOsd(0)
  await seconds(60)
  const after = await upFrom(0)
  expect([before.up, after.up, after.up_from > epoch, after.down_at > epoch]).toEqual([1, 1, true, true])
  expect(after.up_from).toBeGreaterThan(after.down_at)
  expect(await upFrom(3)).toEqual(others)
  await seconds(60)
  expect([await upFrom(0), await states(), failures]).toEqual([after, { 'active+clean': 64 }, []])
  stop()
})
