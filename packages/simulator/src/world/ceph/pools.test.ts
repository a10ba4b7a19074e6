import { afterEach, describe, expect, it } from 'vitest'
import { type CephFixture, openCeph } from './testing/ceph-fixture.ts'

let fixture: CephFixture
afterEach(() => fixture.stop())

interface PoolAnswer {
  readonly pool_id: number
  readonly pool_name: string
  readonly min_size: number
}

const pools = () => fixture.ask<PoolAnswer[]>('osd pool ls detail')
const firstName = async () => (await pools())[0]?.pool_name ?? ''

describe('pools that change while Ceph runs', () => {
  it('another floor counts at once: groups with fewer copies stop serving, and serve again under the old one', async () => {
    fixture = await openCeph()
    const pool = await firstName()
    const floor = (val: string) => fixture.run('osd pool set', { pool, var: 'min_size', val })
    fixture.ceph.controls.failDisk(0)
    await fixture.seconds(10)
    const stopped = async () => (await fixture.pgs()).filter(({ state }) => !state.includes('active')).length
    expect(await stopped()).toBe(0)
    expect((await floor('3')).code).toBe(0)
    await fixture.seconds(10)
    expect(await stopped()).toBeGreaterThan(0)
    expect((await floor('2')).code).toBe(0)
    await fixture.seconds(10)
    expect(await stopped()).toBe(0)
  })

  it('a floor that cannot be is refused, as are pools and fields that are not there', async () => {
    fixture = await openCeph()
    const pool = await firstName()
    const codes = await Promise.all([
      fixture.run('osd pool set', { pool, var: 'min_size', val: '4' }),
      fixture.run('osd pool set', { pool, var: 'min_size', val: 'two' }),
      fixture.run('osd pool set', { pool: 'nowhere', var: 'min_size', val: '2' }),
      fixture.run('osd pool set', { pool, var: 'colour', val: 'red' }),
      fixture.run('osd pool create', { pool }),
    ])
    expect(codes.map(({ code }) => code)).toEqual([22, 22, 2, 22, 17])
  })

  it('a new one has clean groups of its own soon after', async () => {
    fixture = await openCeph()
    const before = (await fixture.pgs()).length
    expect((await fixture.run('osd pool create', { pool: 'fresh', pg_num: 4 })).code).toBe(0)
    await fixture.seconds(20)
    const after = await fixture.pgs()
    expect([after.length - before, (await pools()).at(-1)?.pool_name]).toEqual([4, 'fresh'])
    expect(after.every(({ state }) => state === 'active+clean')).toBe(true)
  })

  it('a new one has the floor that Ceph gives by itself, whatever another was given', async () => {
    fixture = await openCeph()
    await fixture.run('osd pool set', { pool: await firstName(), var: 'min_size', val: '3' })
    await fixture.run('osd pool create', { pool: 'fresh', pg_num: 4 })
    expect((await pools()).at(-1)).toMatchObject({ pool_name: 'fresh', size: 3, min_size: 2 })
  })

  it('a new one has as many copies as the cluster gives, whatever another was given: else nothing would ever be clean again', async () => {
    fixture = await openCeph()
    const pool = await firstName()
    const setSize = (val: string) => fixture.run('osd pool set', { pool, var: 'size', val })
    await setSize('4')
    await fixture.run('osd pool create', { pool: 'fresh', pg_num: 4 })
    await setSize('3')
    await fixture.seconds(20)
    expect((await pools()).at(-1)).toMatchObject({ pool_name: 'fresh', size: 3, min_size: 2 })
    expect((await fixture.pgs()).every(({ state }) => state === 'active+clean')).toBe(true)
  })

  it('the truth is ahead of what is told: a process that has ended serves nothing, whatever was reported', async () => {
    fixture = await openCeph()
    const before = fixture.ceph.controls.truth()
    fixture.ceph.controls.failDisk(0)
    await fixture.seconds(2)
    const { serving, groups } = fixture.ceph.controls.truth()
    expect([before.serving.has(0), serving.has(0)]).toEqual([true, false])
    expect(groups.some((group) => group.serving.includes(0) || group.whole.includes(0))).toBe(false)
    expect((await fixture.pgs()).some(({ acting }) => acting.includes(0))).toBe(true)
  })
})
