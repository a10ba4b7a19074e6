import { describe, expect, it } from 'vitest'
import { type OsdDumpAnswer, openCeph } from './testing/ceph-fixture.ts'

const allClean = { 'active+clean': 64 }

describe('commands that change something', () => {
  it('osd out moves the data while the OSD still serves, and osd in brings it back', async () => {
    const { pgs, run, states, seconds, stop } = await openCeph()
    expect(await run('osd out', { ids: ['0', 'osd.0'] })).toEqual({ code: 0, out: '', err: 'marked out osd.0. ' })
    await seconds(5)
    const moving = (await pgs()).filter(({ acting }) => acting.includes(0))
    expect(moving.length).toBeGreaterThan(0)
    for (const { up, acting, state } of moving) {
      expect([up.includes(0), acting.length, state.startsWith('active+remapped+backfill')]).toEqual([false, 3, true])
    }
    await seconds(60)
    expect(await states()).toEqual(allClean)
    expect((await pgs()).filter(({ acting }) => acting.includes(0))).toEqual([])
    expect(await run('osd in', { ids: ['0'] })).toEqual({ code: 0, out: '', err: 'marked in osd.0. ' })
    await seconds(60)
    expect(await states()).toEqual(allClean)
    stop()
  })

  it('set-group takes buckets, OSDs and device classes, and refuses everything else without a change', async () => {
    const { ask, run, stop } = await openCeph()
    const set = (who: string[], flags = 'noout') => run('osd set-group', { flags, who })
    expect(await set(['node-1', 'zone-b', 'osd.7', '8', 'ssd'])).toEqual({ code: 0, out: '', err: '' })
    const dump = await ask<OsdDumpAnswer & { device_class_flags: object }>('osd dump')
    expect([dump.crush_node_flags, dump.device_class_flags]).toEqual([
      { 'node-1': ['noout'], 'zone-b': ['noout'] },
      { ssd: ['noout'] },
    ])
    expect(dump.osds.filter(({ state }) => state.includes('noout')).map(({ osd }) => osd)).toEqual([7, 8])
    const health = await ask<{ checks: Record<string, { summary: { count: number } }> }>('health')
    expect(health.checks['OSD_FLAGS']?.summary.count).toBe(5)

    expect([
      (await set(['node-9'])).code,
      (await set(['osd.99'])).code,
      (await set([])).code,
      (await set(['node-1'], 'nothing')).code,
      (await set(['node-1'], 'norecover')).code,
    ]).toEqual([22, 22, 22, 22, 22])
    expect((await ask<OsdDumpAnswer>('osd dump')).epoch).toBe(dump.epoch)

    await run('osd unset-group', { flags: 'noout', who: ['node-1', 'zone-b', 'osd.7', '8', 'ssd', 'node-2'] })
    const after = await ask<OsdDumpAnswer & { device_class_flags: object }>('osd dump')
    expect([after.crush_node_flags, after.device_class_flags]).toEqual([{}, {}])
    expect((await ask('health'))['status']).toBe('HEALTH_OK')
    stop()
  })

  it('a command that Ceph does not know is refused in its words', async () => {
    const { run, stop } = await openCeph()
    expect(await run('osd dance')).toEqual({ code: 22, out: '', err: 'command not known' })
    expect(await run('toString')).toEqual({ code: 22, out: '', err: 'command not known' })
    expect((await run('osd ok-to-stop', { ids: ['node-1'] })).code).toBe(22)
    expect((await run('osd metadata', { id: 99 })).code).toBe(2)
    stop()
  })

  it('ok-to-stop lies when it is told to', async () => {
    const { ceph, run, stop } = await openCeph()
    const all = Array.from({ length: 12 }, (_, id) => String(id))
    const codeOf = async (ids: string[]) => (await run('osd ok-to-stop', { ids })).code
    expect([await codeOf(all), await codeOf(['0'])]).toEqual([16, 0])
    ceph.controls.lieOkToStop('yes')
    expect(await codeOf(all)).toBe(0)
    ceph.controls.lieOkToStop('no')
    expect(await codeOf(['0'])).toBe(16)
    ceph.controls.lieOkToStop(undefined)
    expect([await codeOf(all), await codeOf(['0'])]).toEqual([16, 0])
    stop()
  })
})
