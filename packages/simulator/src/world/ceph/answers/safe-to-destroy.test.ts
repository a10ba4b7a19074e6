import { expect, it } from 'vitest'
import { openCeph } from '../testing/ceph-fixture.ts'

it('an OSD is safe to destroy when no data is on it and none waits for it, and one that does not exist always is', async () => {
  const { ask, run, seconds, ceph, stop } = await openCeph()
  const verdict = () => ask('osd safe-to-destroy', { ids: ['0', '99'] })
  const mapped = { safe_to_destroy: [99], active: [0], missing_stats: [], stored_pgs: [] }
  expect(await verdict()).toEqual(mapped)
  ceph.controls.setRecoveryRate(0)
  ceph.controls.failDisk(0)
  await seconds(900)
  expect(await verdict()).toEqual({ safe_to_destroy: [99], active: [], missing_stats: [0], stored_pgs: [] })
  ceph.controls.setRecoveryRate(100)
  await seconds(120)
  expect(await verdict()).toEqual({ safe_to_destroy: [0, 99], active: [], missing_stats: [], stored_pgs: [] })
  expect([(await run('osd safe-to-destroy')).code, (await run('osd safe-to-destroy', { ids: ['x'] })).code]).toEqual([
    22, 22,
  ])
  stop()
})
