import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type CephFixture, cephNamespace, openCeph, type PgAnswer } from './testing/ceph-fixture.ts'

let fixture: CephFixture
afterEach(() => fixture.stop())

const count = (val: number, pool = 'rep') => fixture.run('osd pool set', { pool, var: 'pg_num', val: String(val) })
const groupsOf = async (pool: number) => (await fixture.pgs()).filter(({ pgid }) => pgid.startsWith(`${pool}.`))
const byId = (groups: readonly PgAnswer[], id: string) => groups.find(({ pgid }) => pgid === id)
const servers = (groups: readonly PgAnswer[], id: string) => [...(byId(groups, id)?.acting ?? [])].sort((a, b) => a - b)
const serves = async () => Object.keys(await fixture.states()).every((state) => state.startsWith('active'))
const upmaps = async () => (await fixture.ask<{ pg_upmap_items: unknown[] }>('osd dump')).pg_upmap_items
const hostOf = async (osd: number) =>
  (await fixture.ask<{ nodes: { name: string; children?: number[] }[] }>('osd tree')).nodes.find(({ children }) =>
    children?.includes(osd),
  )?.name

describe('placement groups of a pool', () => {
  it.each(['rep', 'ec'])(
    'of %s split in the places of those they come of, serve all the time, and end clean',
    async (pool) => {
      fixture = await openCeph()
      const number = pool === 'rep' ? 1 : 2
      const before = await groupsOf(number)
      fixture.ceph.controls.setRecoveryRate(0)
      expect((await count(48, pool)).code).toBe(0)
      await fixture.seconds(8)
      const split = await groupsOf(number)
      expect([split.length, await serves()]).toEqual([48, true])
      expect(servers(split, `${number}.20`)).toEqual(servers(before, `${number}.0`))
      fixture.ceph.controls.setRecoveryRate(5)
      await fixture.seconds(120)
      expect(await fixture.states()).toEqual({ 'active+clean': 80 })
    },
  )

  it('merge one by one, and not before they are clean', async () => {
    fixture = await openCeph()
    fixture.ceph.controls.setRecoveryRate(0)
    await count(34)
    await fixture.seconds(10)
    await count(32)
    await fixture.seconds(60)
    const dump = async () =>
      (await fixture.ask<{ pools: { pg_num: number; pg_num_target: number }[] }>('osd dump')).pools[0]
    const waiting = (await groupsOf(1)).filter(({ state }) => state !== 'active+clean').length
    expect([waiting > 0, await dump()]).toMatchObject([true, { pg_num: 34, pg_num_target: 32 }])
    fixture.ceph.controls.setRecoveryRate(5)
    await fixture.seconds(60)
    expect([(await groupsOf(1)).length, await dump()]).toMatchObject([32, { pg_num: 32, pg_num_target: 32 }])
    expect(await fixture.states()).toEqual({ 'active+clean': 64 })
  })

  it('are no number that cannot be', async () => {
    fixture = await openCeph()
    expect([(await count(0)).code, (await count(2_000)).code]).toEqual([22, 22])
  })
})

describe('the balancer', () => {
  it('has a group elsewhere than CRUSH has it, and serves it from where it was until that has the data', async () => {
    fixture = await openCeph()
    const group = byId(await groupsOf(1), '1.0') as PgAnswer
    const [from = -1] = group.up
    const to = from % 2 === 0 ? from + 1 : from - 1
    const moved = await fixture.run('osd pg-upmap-items', { pgid: '1.0', id: [String(from), String(to)] })
    expect(moved.code).toBe(0)
    await fixture.seconds(6)
    expect(await upmaps()).toEqual([{ pgid: '1.0', mappings: [{ from, to }] }])
    expect(byId(await groupsOf(1), '1.0')?.up).toContain(to)
    expect(await serves()).toBe(true)
    await fixture.seconds(60)
    expect(byId(await groupsOf(1), '1.0')?.acting).toContain(to)
    await fixture.run('osd rm-pg-upmap-items', { pgid: '1.0' })
    await fixture.seconds(60)
    expect(byId(await groupsOf(1), '1.0')).toMatchObject({ acting: group.acting, state: 'active+clean' })
    expect(await upmaps()).toEqual([])
  })

  it('moves nothing into the host of another copy: the loss of that host would take two', async () => {
    fixture = await openCeph()
    const group = byId(await groupsOf(1), '1.0') as PgAnswer
    const [from = -1, other = -1] = group.up
    const beside = other % 2 === 0 ? other + 1 : other - 1
    await fixture.run('osd pg-upmap-items', { pgid: '1.0', id: [String(from), String(beside)] })
    await fixture.seconds(10)
    expect(byId(await groupsOf(1), '1.0')?.up).toEqual(group.up)
  })

  it('is told of groups, OSDs and pairs that are none', async () => {
    fixture = await openCeph()
    const upmap = (pgid: string, id: string[]) => fixture.run('osd pg-upmap-items', { pgid, id })
    const codes = await Promise.all([upmap('9.0', ['0', '1']), upmap('1.0', ['0']), upmap('1.0', ['0', '99'])])
    expect(codes.map(({ code }) => code)).toEqual([2, 22, 2])
  })
})

it('a disk in another host says where it is when its OSD boots there', async () => {
  fixture = await openCeph()
  expect(await hostOf(0)).toBe('node-1')
  fixture.ceph.controls.moveDisk(0, 'node-2')
  await fixture.seconds(10)
  expect(await hostOf(0)).toBe('node-1')
  const spec = { template: { spec: { nodeSelector: { 'kubernetes.io/hostname': 'node-2' } } } }
  const key = { namespace: cephNamespace, name: 'rook-ceph-osd-0' }
  await fixture.api.patch(deployments, key, { type: 'merge', body: { spec } })
  await fixture.seconds(60)
  expect(await hostOf(0)).toBe('node-2')
  await fixture.seconds(120)
  expect(await fixture.states()).toEqual({ 'active+clean': 64 })
})

it('an OSD boots nowhere but where its disk is, and there as soon as that is back', async () => {
  fixture = await openCeph()
  fixture.ceph.controls.moveDisk(0, 'node-2')
  const isServing = () => fixture.ceph.controls.truth().serving.has(0)
  await fixture.seconds(10)
  const runsOn = isServing()
  await fixture.evictOsd(0)
  await fixture.seconds(60)
  const bootedWithout = isServing()
  fixture.ceph.controls.moveDisk(0, 'node-1')
  await fixture.seconds(60)
  expect([runsOn, bootedWithout, isServing(), await hostOf(0)]).toEqual([true, false, true, 'node-1'])
})

it('a disk that was moved goes along when its machine is replaced, or its OSD would be down for ever', async () => {
  fixture = await openCeph()
  fixture.ceph.controls.moveDisk(0, 'node-2')
  fixture.ceph.controls.disksMoved('node-1', 'node-3')
  expect(fixture.ceph.controls.hostOfDisk(0)).toBe('node-2')
  fixture.ceph.controls.disksMoved('node-2', 'node-3')
  const spec = { template: { spec: { nodeSelector: { 'kubernetes.io/hostname': 'node-3' } } } }
  const key = { namespace: cephNamespace, name: 'rook-ceph-osd-0' }
  await fixture.api.patch(deployments, key, { type: 'merge', body: { spec } })
  await fixture.seconds(60)
  expect(fixture.ceph.controls.truth().serving.has(0)).toBe(true)
  // CRUSH goes on to call the host what it was called.
  expect(await hostOf(0)).toBe('node-2')
})

it('an OSD that has another chunk of a group now has lost the one before: a group that trusts it would be down for ever', async () => {
  fixture = await openCeph()
  const move = (host: string) => fixture.run('osd crush move', { name: 'osd.0', args: [`host=${host}`] })
  const before = await groupsOf(2)
  await move('node-2')
  await fixture.seconds(120)
  const swapped = (await groupsOf(2)).filter(({ pgid, up }) => {
    const place = byId(before, pgid)?.up.indexOf(0) ?? -1
    return place >= 0 && up.includes(0) && up.indexOf(0) !== place
  })
  expect(swapped.length).toBeGreaterThan(0)
  fixture.ceph.controls.setRecoveryRate(0)
  await move('node-1')
  await fixture.seconds(10)
  const after = await groupsOf(2)
  for (const { pgid, acting } of swapped) expect(byId(after, pgid)?.acting).toEqual(acting)
})
