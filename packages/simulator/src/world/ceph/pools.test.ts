import { afterEach, describe, expect, it } from 'vitest'
import { type CephStage, openCeph } from './testing/ceph-stage.ts'

let stage: CephStage
afterEach(() => stage.stop())

interface PoolAnswer {
  readonly pool_id: number
  readonly pool_name: string
  readonly min_size: number
}

const pools = () => stage.ask<PoolAnswer[]>('osd pool ls detail')
const firstName = async () => (await pools())[0]?.pool_name ?? ''

describe('pools that change while Ceph runs', () => {
  it('another floor counts at once: groups with fewer copies stop serving, and serve again under the old one', async () => {
    stage = await openCeph()
    const pool = await firstName()
    const floor = (val: string) => stage.run('osd pool set', { pool, var: 'min_size', val })
    stage.ceph.controls.failDisk(0)
    await stage.seconds(10)
    const stopped = async () => (await stage.pgs()).filter(({ state }) => !state.includes('active')).length
    expect(await stopped()).toBe(0)
    expect((await floor('3')).code).toBe(0)
    await stage.seconds(10)
    expect(await stopped()).toBeGreaterThan(0)
    expect((await floor('2')).code).toBe(0)
    await stage.seconds(10)
    expect(await stopped()).toBe(0)
  })

  it('a floor that cannot be is refused, as are pools and fields that are not there', async () => {
    stage = await openCeph()
    const pool = await firstName()
    const codes = await Promise.all([
      stage.run('osd pool set', { pool, var: 'min_size', val: '4' }),
      stage.run('osd pool set', { pool, var: 'min_size', val: 'two' }),
      stage.run('osd pool set', { pool: 'nowhere', var: 'min_size', val: '2' }),
      stage.run('osd pool set', { pool, var: 'colour', val: 'red' }),
      stage.run('osd pool create', { pool }),
    ])
    expect(codes.map(({ code }) => code)).toEqual([22, 22, 2, 22, 17])
  })

  it('a new one has clean groups of its own soon after', async () => {
    stage = await openCeph()
    const before = (await stage.pgs()).length
    expect((await stage.run('osd pool create', { pool: 'fresh', pg_num: 4 })).code).toBe(0)
    await stage.seconds(20)
    const after = await stage.pgs()
    expect([after.length - before, (await pools()).at(-1)?.pool_name]).toEqual([4, 'fresh'])
    expect(after.every(({ state }) => state === 'active+clean')).toBe(true)
  })

  it('the truth is ahead of what is told: a process that has ended serves nothing, whatever was reported', async () => {
    stage = await openCeph()
    const before = stage.ceph.controls.truth()
    stage.ceph.controls.failDisk(0)
    await stage.seconds(2)
    const { serving, groups } = stage.ceph.controls.truth()
    expect([before.serving.has(0), serving.has(0)]).toEqual([true, false])
    expect(groups.some((group) => group.serving.includes(0) || group.whole.includes(0))).toBe(false)
    expect((await stage.pgs()).some(({ acting }) => acting.includes(0))).toBe(true)
  })
})
