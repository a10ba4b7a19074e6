import { afterEach, describe, expect, it } from 'vitest'
import { type CephFixture, openCeph } from './testing/ceph-fixture.ts'

let fixture: CephFixture
afterEach(() => fixture.stop())

interface PoolAnswer {
  readonly pool_name: string
  readonly size: number
  readonly min_size: number
  readonly crush_rule: number
}

const zoneOf = (osd: number) => Math.floor(osd / 4)
const groupsOf = async (pool: number) => (await fixture.pgs()).filter(({ pgid }) => pgid.startsWith(`${pool}.`))
const zonesOf = ({ up }: { readonly up: readonly number[] }) => new Set(up.map(zoneOf)).size
const poolOf = async (name: string) =>
  (await fixture.ask<PoolAnswer[]>('osd pool ls detail')).find(({ pool_name }) => pool_name === name)
const set = (pool: string, variable: string, val: string) => fixture.run('osd pool set', { pool, var: variable, val })
const hostOf = async (osd: number) =>
  (await fixture.ask<{ nodes: { name: string; children?: number[] }[] }>('osd tree')).nodes.find(({ children }) =>
    children?.includes(osd),
  )?.name
const serves = async () => Object.keys(await fixture.states()).every((state) => state.startsWith('active'))

describe('a CRUSH map that changes while Ceph runs', () => {
  it('a pool under another rule moves over, keeps serving, and ends clean with a copy in each zone', async () => {
    fixture = await openCeph()
    expect((await groupsOf(1)).some((group) => zonesOf(group) < 3)).toBe(true)
    expect(
      (await fixture.run('osd crush rule create-replicated', { name: 'wide', root: 'default', type: 'zone' })).code,
    ).toBe(0)
    expect((await set('rep', 'crush_rule', 'wide')).code).toBe(0)
    await fixture.seconds(8)
    expect(await serves()).toBe(true)
    expect(Object.keys(await fixture.states()).some((state) => state.includes('backfill'))).toBe(true)
    await fixture.seconds(120)
    expect(await fixture.states()).toEqual({ 'active+clean': 64 })
    expect((await groupsOf(1)).every((group) => zonesOf(group) === 3)).toBe(true)
    const rules = await fixture.ask<{ rule_id: number; rule_name: string }[]>('osd crush rule dump')
    expect((await poolOf('rep'))?.crush_rule).toBe(rules.find(({ rule_name }) => rule_name === 'wide')?.rule_id)
  })

  it('another number of copies brings the floor that Ceph gives, and copies come and go', async () => {
    fixture = await openCeph()
    await set('rep', 'size', '4')
    await fixture.seconds(120)
    expect(await poolOf('rep')).toMatchObject({ size: 4, min_size: 2 })
    expect((await groupsOf(1)).every(({ acting }) => acting.length === 4)).toBe(true)
    await set('rep', 'size', '2')
    await fixture.seconds(30)
    expect(await poolOf('rep')).toMatchObject({ size: 2, min_size: 1 })
    expect((await groupsOf(1)).every(({ acting, state }) => acting.length === 2 && state === 'active+clean')).toBe(true)
  })

  it('an OSD under another host takes its data along in the map, and comes home when it boots again', async () => {
    fixture = await openCeph()
    expect((await fixture.run('osd crush move', { name: 'osd.0', args: ['host=node-2'] })).code).toBe(0)
    expect(await hostOf(0)).toBe('node-2')
    await fixture.seconds(120)
    expect(await fixture.states()).toEqual({ 'active+clean': 64 })
    await fixture.evictOsd(0)
    await fixture.seconds(60)
    expect(await hostOf(0)).toBe('node-1')
    await fixture.seconds(120)
    expect(await fixture.states()).toEqual({ 'active+clean': 64 })
  })

  it('a rule that was made is there after an OSD was moved', async () => {
    fixture = await openCeph()
    await fixture.run('osd crush rule create-replicated', { name: 'fast', root: 'default', type: 'host', class: 'ssd' })
    await fixture.run('osd crush move', { name: 'osd.0', args: ['host=node-2'] })
    expect(await fixture.ask<string[]>('osd crush rule ls')).toEqual(['replicated_rule', 'rep', 'ec', 'fast'])
    expect((await set('rep', 'crush_rule', 'fast')).code).toBe(0)
  })

  it('what cannot be is refused with the code of Ceph, and changes nothing', async () => {
    fixture = await openCeph()
    const before = await fixture.pgs()
    const answers = await Promise.all([
      set('ec', 'size', '4'),
      set('rep', 'size', '11'),
      set('rep', 'crush_rule', 'nowhere'),
      set('rep', 'crush_rule', 'ec'),
      fixture.run('osd crush rule create-replicated', { name: 'odd', root: 'default', type: 'shelf' }),
      fixture.run('osd crush rule create-replicated', { name: 'odd', root: 'default', type: 'host', class: 'tape' }),
      fixture.run('osd crush move', { name: 'osd.99', args: ['host=node-1'] }),
      fixture.run('osd crush move', { name: 'node-1', args: ['zone=zone-b'] }),
      fixture.run('osd crush move', { name: 'osd.1', args: ['shelf=a'] }),
    ])
    expect(answers.map(({ code }) => code)).toEqual([95, 22, 2, 22, 22, 22, 2, 22, 22])
    expect((await fixture.pgs()).map(({ up }) => up)).toEqual(before.map(({ up }) => up))
  })
})
