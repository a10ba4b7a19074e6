import { nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { observeCeph } from '@cofferdam/product/ceph/observe-ceph.ts'
import { noOsd } from '@cofferdam/product/safety/ceph-map.ts'
import { isFresh } from '@cofferdam/product/safety/freshness.ts'
import { describe, expect, it } from 'vitest'
import { type OsdDumpAnswer, openCeph, type PgAnswer, smallDescription } from './testing/ceph-fixture.ts'

/** Where no placement group is anything but `active+clean`. */
const allClean = { 'active+clean': 64 }

describe('a node is emptied and comes back', () => {
  it('its OSDs go down, the data is degraded and stays so under noout, and recovers when they are back', async () => {
    const { ask, run, states, seconds, emptyNode, cordon, stop, failures } = await openCeph()
    expect(await states()).toEqual(allClean)
    const before = await ask<OsdDumpAnswer>('osd dump')
    await run('osd set-group', { flags: 'noout', who: ['zone-a'] })

    await emptyNode('node-1')
    await seconds(8)
    const during = await ask<OsdDumpAnswer>('osd dump')
    expect(during.osds.filter(({ up }) => up === 0).map(({ osd, in: isIn }) => [osd, isIn])).toEqual([
      [0, 1],
      [1, 1],
    ])
    expect(during.osds.slice(0, 2).every(({ down_at }) => down_at > before.epoch)).toBe(true)
    const degraded = await states()
    expect(Object.keys(degraded)).toEqual(['active+clean', 'active+undersized+degraded'])

    await seconds(1_800)
    expect(await states()).toEqual(degraded)
    expect((await ask<OsdDumpAnswer>('osd dump')).osds.every((osd) => osd.in === 1)).toBe(true)

    await cordon('node-1', false)
    const passed = new Set<string>()
    for (let second = 0; second < 60; second += 1) {
      await seconds(1)
      for (const state of Object.keys(await states())) passed.add(state)
    }
    expect(await states()).toEqual(allClean)
    expect([...passed].filter((state) => /recover/.test(state))).not.toEqual([])
    const after = await ask<OsdDumpAnswer>('osd dump')
    expect(after.osds.slice(0, 2).every(({ up_from, down_at }) => up_from > down_at)).toBe(true)
    expect(failures).toEqual([])
    stop()
  })

  it('without noout they are marked out after the interval, the data moves, and all is clean on fewer OSDs', async () => {
    const { pgs, ask, states, seconds, emptyNode, cordon, stop } = await openCeph()
    await emptyNode('node-1')
    await seconds(590)
    expect((await ask<OsdDumpAnswer>('osd dump')).osds.every((osd) => osd.in === 1)).toBe(true)
    await seconds(16)
    expect(Object.keys(await states()).some((state) => state.includes('backfill'))).toBe(true)
    await seconds(90)
    expect(await states()).toEqual(allClean)
    const out = (await ask<OsdDumpAnswer>('osd dump')).osds.slice(0, 2)
    expect(out.map(({ in: isIn, state }) => [isIn, state])).toEqual([
      [0, ['autoout', 'exists']],
      [0, ['autoout', 'exists']],
    ])
    const placed = await pgs()
    expect(placed.filter(({ up, acting }) => [...up, ...acting].some((osd) => osd < 2))).toEqual([])

    await cordon('node-1', false)
    await seconds(90)
    expect(await states()).toEqual(allClean)
    expect((await ask<OsdDumpAnswer>('osd dump')).osds.every((osd) => osd.in === 1 && osd.up === 1)).toBe(true)
    expect((await pgs()).some(({ acting }) => acting.includes(0))).toBe(true)
    stop()
  })

  it('a whole rack or more that is down is never marked out, as the mons do not believe in that many dead disks', async () => {
    const { ask, seconds, emptyNode, cordon, stop } = await openCeph()
    await emptyNode('node-1')
    await emptyNode('node-4')
    await seconds(2_000)
    expect((await ask<OsdDumpAnswer>('osd dump')).osds.every((osd) => osd.in === 1)).toBe(true)
    await cordon('node-4', false)
    await seconds(60)
    const { osds } = await ask<OsdDumpAnswer>('osd dump')
    expect(osds.filter((osd) => osd.in === 0).map(({ osd }) => osd)).toEqual([0, 1])
    stop()
  })

  it('noout that is taken away late lets an OSD go out at the next tick, not after another interval', async () => {
    const { ask, run, seconds, emptyNode, stop } = await openCeph()
    await run('osd set', { key: 'noout' })
    await emptyNode('node-1')
    await seconds(3_600)
    await run('osd unset', { key: 'noout' })
    await seconds(6)
    expect((await ask<OsdDumpAnswer>('osd dump')).osds.filter((osd) => osd.in === 0).map(({ osd }) => osd)).toEqual([
      0, 1,
    ])
    stop()
  })
})

describe('two failure domains at once', () => {
  it('placement groups below min_size stop serving until enough is back', async () => {
    const { pgs, ask, states, seconds, emptyNode, cordon, run, stop } = await openCeph()
    await emptyNode('node-1')
    await emptyNode('node-2')
    await seconds(10)
    const placed = await pgs()
    const left = ({ acting }: PgAnswer) => acting.filter((osd) => osd !== noOsd).length
    const replicated = placed.filter(({ pgid, state }) => pgid.startsWith('1.') && !state.startsWith('active'))
    expect(replicated.length).toBeGreaterThan(0)
    expect(replicated.filter((pg) => pg.state !== 'undersized+degraded+peered' || left(pg) !== 1)).toEqual([])
    // One chunk of three is not even enough to read.
    const erasure = placed.filter(({ pgid, state }) => pgid.startsWith('2.') && !state.startsWith('active'))
    expect(erasure.length).toBeGreaterThan(0)
    expect(erasure.filter((pg) => pg.state !== 'down' || left(pg) !== 1)).toEqual([])
    const health = await ask<{ checks: Record<string, { summary: { message: string } }> }>('health')
    expect(health.checks['PG_AVAILABILITY']?.summary.message).toBe(
      `Reduced data availability: ${replicated.length + erasure.length} pgs inactive, ${erasure.length} pgs down`,
    )
    expect((await run('osd ok-to-stop', { ids: ['8'] })).code).toBe(16)
    await cordon('node-1', false)
    await cordon('node-2', false)
    await seconds(90)
    expect(await states()).toEqual(allClean)
    stop()
  })

  it('copies that missed writes cannot serve alone: the group is down until one that has everything is back', async () => {
    const description = smallDescription({
      pools: [{ name: 'rep', kind: 'replicated', size: 3, minSize: 1, failureDomain: 'zone', pgCount: 16 }],
    })
    const { states, seconds, emptyNode, cordon, stop } = await openCeph({ description })
    for (const node of ['node-1', 'node-4']) await emptyNode(node)
    await seconds(60)
    for (const node of ['node-2', 'node-3', 'node-5', 'node-6']) await emptyNode(node)
    await seconds(10)
    expect(await states()).toEqual({ 'stale+active+undersized+degraded': 16 })
    for (const node of ['node-1', 'node-4']) await cordon(node, false)
    await seconds(30)
    expect(await states()).toEqual({ down: 16 })
    for (const node of ['node-2', 'node-5']) await cordon(node, false)
    await seconds(60)
    expect(await states()).toEqual({ 'active+undersized+degraded': 16 })
    for (const node of ['node-3', 'node-6']) await cordon(node, false)
    await seconds(90)
    expect(await states()).toEqual({ 'active+clean': 16 })
    stop()
  })
})

describe('what Ceph says lags behind what is', () => {
  it('right after an OSD went down all is still clean and safe; a report later it is neither', async () => {
    const { pgs, ask, run, states, evictOsd, cordon, clock, stop } = await openCeph()
    await cordon('node-1')
    const isDown = async () => (await ask<OsdDumpAnswer>('osd dump')).osds[0]?.up === 0
    await evictOsd(0)
    while (!(await isDown())) await clock.advance(100)
    const { epoch, osds } = await ask<OsdDumpAnswer>('osd dump')
    expect(osds[0]?.down_at).toBe(epoch)
    expect(await states()).toEqual(allClean)
    const stale = await pgs()
    const touched = new Set(stale.filter(({ acting }) => acting.includes(0)).map(({ pgid }) => pgid))
    expect(stale.filter(({ reported_epoch }) => reported_epoch >= epoch)).toEqual([])
    const other = stale.find(({ pgid, acting }) => pgid.startsWith('1.') && acting.includes(0))
    const ids = [String(other?.acting.find((osd) => osd > 1))]
    expect((await run('osd ok-to-stop', { ids })).code).toBe(0)

    await clock.advance(1_500)
    expect((await pgs()).filter(({ state }) => state === 'stale+active+clean').map(({ acting }) => acting[0])).toEqual(
      stale.filter(({ acting }) => acting[0] === 0).map(() => 0),
    )
    await clock.advance(3_000)
    const fresh = await pgs()
    expect(fresh.filter(({ pgid, reported_epoch }) => touched.has(pgid) && reported_epoch < epoch)).toEqual([])
    expect(fresh.filter(({ acting }) => acting.includes(0))).toEqual([])
    expect((await run('osd ok-to-stop', { ids })).code).toBe(16)
    stop()
  })

  it('a reader that compares epochs knows when to wait: after a loss, after a return, and not for ever', async () => {
    const { ceph, emptyNode, cordon, clock, seconds, stop } = await openCeph()
    const look = async () => {
      const map = await observeCeph(ceph.commands)
      if (!map.known) throw new Error(map.why)
      const upCount = map.value.osds.filter(({ isUp }) => isUp).length
      return [upCount, isFresh(map.value)] as const
    }
    const until = async (upCount: number) => {
      while ((await look())[0] !== upCount) await clock.advance(100)
    }
    expect(await look()).toEqual([12, true])
    await emptyNode('node-1')
    await until(10)
    expect(await look()).toEqual([10, false])
    await seconds(5)
    expect(await look()).toEqual([10, true])
    await cordon('node-1', false)
    await until(12)
    await seconds(30)
    expect(await look()).toEqual([12, true])
    stop()
  })

  it('a new mgr knows nothing until all OSDs have reported; meanwhile the mons have only what the last one said', async () => {
    const { ceph, run, states, seconds, stop } = await openCeph()
    ceph.controls.killMgr(10_000)
    expect(await states()).toEqual(allClean)
    const answered = run('pg stat')
    await seconds(12)
    expect(await states()).toEqual({ unknown: 64 })
    expect((await answered).code).toBe(0)
    const { code, out } = await run('osd ok-to-stop', { ids: ['0'] })
    expect([code, (JSON.parse(out) as { unknown_pgs: string[] }).unknown_pgs.length]).toEqual([11, 64])
    await seconds(4)
    expect(await states()).toEqual(allClean)
    stop()
  })

  it('a second mgr takes over when the first is evicted', async () => {
    const { api, ask, seconds, stop } = await openCeph({ mgrs: 2 })
    const first = await ask<{ active_name: string; num_standby: number }>('mgr stat')
    const { items } = await api.list(pods, { labelSelector: `app=rook-ceph-mgr,mgr=${first.active_name}` })
    const { name, namespace = '' } = items[0]?.metadata ?? { name: '' }
    await api.delete(pods, { namespace, name })
    await seconds(2)
    const second = await ask<{ active_name: string }>('mgr stat')
    expect([first.active_name, second.active_name]).toEqual(['a', 'b'])
    stop()
  })
})

describe('a cluster that is only just started', () => {
  it('answers when its mons are there, has OSDs up as their pods get ready, and is clean soon after', async () => {
    const { ask, run, states, seconds, stop } = await openCeph({ early: true })
    const asked = run('status')
    await seconds(30)
    expect((await asked).code).toBe(0)
    await seconds(30)
    expect(await states()).toEqual(allClean)
    const { osds } = await ask<OsdDumpAnswer>('osd dump')
    expect(osds.filter(({ up, up_from }) => up === 0 || up_from === 0)).toEqual([])
    const hosts = (await ask<{ id: number; hostname: string }[]>('osd metadata')).map(({ hostname }) => hostname)
    const nodeNumbers = [1, 1, 4, 4, 2, 2, 5, 5, 3, 3, 6, 6]
    expect(hosts).toEqual(nodeNumbers.map((number) => `node-${number}`))
    stop()
  })
})

describe('no answer', () => {
  it('without a majority of mons every command is CEPH_UNREACHABLE after its time, and nothing is marked', async () => {
    const { ask, run, cordon, api, seconds, emptyNode, stop } = await openCeph()
    for (const [node, mon] of [
      ['node-1', 'a'],
      ['node-2', 'b'],
    ] as const) {
      await cordon(node)
      const { items } = await api.list(pods, { labelSelector: `app=rook-ceph-mon,mon=${mon}` })
      for (const { metadata } of items)
        await api.delete(pods, { namespace: metadata.namespace ?? '', name: metadata.name })
    }
    await emptyNode('node-1')
    const failed = expect(run('status')).rejects.toMatchObject({ code: 'CEPH_UNREACHABLE' })
    await seconds(16)
    await failed
    await cordon('node-2', false)
    // Answered as soon as there is a majority.
    const first = Promise.all([ask<{ quorum_names: string[] }>('quorum_status'), ask<OsdDumpAnswer>('osd dump')])
    await seconds(4)
    const [{ quorum_names }, dump] = await first
    expect(quorum_names).toEqual(['b', 'c'])
    expect(dump.osds[0]?.up).toBe(1)
    await seconds(3)
    expect((await ask<OsdDumpAnswer>('osd dump')).osds[0]?.up).toBe(0)
    stop()
  })

  it('a command that was asked in silence is answered when the silence ends in time', async () => {
    const { ceph, run, seconds, stop } = await openCeph()
    ceph.controls.silence(true)
    const late = run('osd dump')
    await seconds(10)
    ceph.controls.silence(false)
    await seconds(1)
    expect((await late).code).toBe(0)
    stop()
  })

  it('a caller who gives up is told at once', async () => {
    const { ceph, stop } = await openCeph()
    ceph.controls.silence(true)
    const abort = new AbortController()
    const asked = ceph.commands.run({ prefix: 'status' }, { signal: abort.signal })
    abort.abort()
    await expect(asked).rejects.toMatchObject({ code: 'CEPH_UNREACHABLE' })
    stop()
  })
})

describe('machines and disks', () => {
  it('a machine that loses power keeps its OSDs up until the heartbeats have been missed', async () => {
    const { ask, seconds, world, stop } = await openCeph()
    world.kubelet.powerOff('node-2')
    await seconds(18)
    const upCount = async () => (await ask<OsdDumpAnswer>('osd dump')).osds.filter(({ up }) => up === 1).length
    expect(await upCount()).toBe(12)
    await seconds(5)
    expect(await upCount()).toBe(10)
    world.kubelet.powerOn('node-2')
    await seconds(30)
    expect(await upCount()).toBe(12)
    stop()
  })

  it('the same holds for the power wish on a node, for whoever has only kubectl', async () => {
    const { api, ask, seconds, stop } = await openCeph()
    const body = { metadata: { annotations: { 'cofferdam.io/power': 'off' } } }
    await api.patch(nodes, { name: 'node-2' }, { type: 'merge', body })
    await seconds(23)
    expect((await ask<OsdDumpAnswer>('osd dump')).osds.filter(({ up }) => up === 0).map(({ osd }) => osd)).toEqual([
      4, 5,
    ])
    stop()
  })

  it('a failed disk takes its OSD down though its pod stays, and data is clean again after it is out', async () => {
    const { ceph, ask, states, seconds, stop } = await openCeph()
    ceph.controls.failDisk(3)
    await seconds(8)
    expect(Object.keys(await states())).toContain('active+undersized+degraded')
    await seconds(700)
    expect(await states()).toEqual(allClean)
    ceph.controls.mendDisk(3)
    await seconds(60)
    expect((await ask<OsdDumpAnswer>('osd dump')).osds[3]).toMatchObject({ up: 1, in: 1 })
    expect(await states()).toEqual(allClean)
    stop()
  })

  it('recovery goes as fast as it is told, and not at all at rate 0', async () => {
    const { ceph, states, seconds, evictOsd, stop } = await openCeph()
    await evictOsd(0)
    ceph.controls.setRecoveryRate(0)
    await seconds(60)
    expect(Object.keys(await states())).toEqual(['active+clean', 'active+recovery_wait+degraded'])
    ceph.controls.setRecoveryRate(100)
    await seconds(5)
    expect(await states()).toEqual(allClean)
    stop()
  })
})

describe('one seed, one Ceph', () => {
  async function history(seed: number): Promise<string[]> {
    const { run, seconds, emptyNode, cordon, ceph, stop } = await openCeph({ seed })
    const lines: string[] = []
    const note = async () => {
      for (const prefix of ['status', 'osd dump', 'osd tree', 'osd metadata']) lines.push((await run(prefix)).out)
      lines.push((await run('pg dump', { dumpcontents: ['pgs'] })).out)
    }
    await emptyNode('node-3')
    for (let step = 0; step < 10; step += 1) {
      await seconds(3)
      await note()
    }
    ceph.controls.failDisk(0)
    await cordon('node-3', false)
    await seconds(40)
    await note()
    stop()
    return lines
  }

  it('the same seed gives the same answers, byte for byte', async () => {
    const first = await history(5)
    expect(await history(5)).toEqual(first)
    expect(await history(6)).not.toEqual(first)
  })

  it('a stopped Ceph leaves no timer behind', async () => {
    const { ceph, world, server, clock, evictOsd, seconds, stop } = await openCeph()
    await evictOsd(0)
    await seconds(3)
    ceph.stop()
    world.stop()
    server.stop()
    await clock.advance(0)
    expect(clock.nextAt()).toBe(undefined)
    stop()
  })
})
