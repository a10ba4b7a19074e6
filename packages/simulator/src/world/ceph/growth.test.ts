import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type CephFixture, daemon, type OsdDumpAnswer, openCeph } from './testing/ceph-fixture.ts'

let fixture: CephFixture
afterEach(() => fixture.stop())

interface TreeNode {
  readonly id: number
  readonly name: string
  readonly children?: readonly number[]
  readonly crush_weight?: number
  readonly device_class?: string
}

const tree = () => fixture.ask<{ nodes: TreeNode[]; stray: TreeNode[] }>('osd tree')
const dumpOf = async (osd: number) =>
  (await fixture.ask<OsdDumpAnswer>('osd dump')).osds.find((entry) => entry.osd === osd)
const groupsOn = async (osd: number) => (await fixture.pgs()).filter(({ up }) => up.includes(osd))
const hostOf = async (osd: number) => (await tree()).nodes.find(({ children }) => children?.includes(osd))?.name

async function addPod(osd: number, node: string) {
  await fixture.api.create(deployments, daemon('osd', String(osd), node))
}

describe('a Ceph that grows while it runs', () => {
  it('knows a new OSD at once, but moves nothing to it before its pod is ready', async () => {
    fixture = await openCeph()
    const before = await fixture.pgs()
    expect(fixture.ceph.controls.addOsd({ node: 'node-1', weight: 2, deviceClass: 'hdd' })).toBe(12)
    await fixture.seconds(60)
    expect(await dumpOf(12)).toMatchObject({ up: 0, in: 0, state: ['exists', 'new'] })
    expect((await tree()).stray.map(({ name }) => name)).toEqual(['osd.12'])
    expect((await fixture.pgs()).map(({ up }) => up)).toEqual(before.map(({ up }) => up))
  })

  it('places it beside its host, fills it at the pace of recovery, and loses no copy on the way', async () => {
    fixture = await openCeph()
    fixture.ceph.controls.setRecoveryRate(1)
    fixture.ceph.controls.addOsd({ id: 12, node: 'node-1', weight: 4 })
    await addPod(12, 'node-1')
    await fixture.seconds(15)
    expect(await dumpOf(12)).toMatchObject({ up: 1, in: 1, state: ['exists', 'up'] })
    expect(await hostOf(12)).toBe('node-1')
    expect((await tree()).nodes.find(({ id }) => id === 12)).toMatchObject({ crush_weight: 4, device_class: 'ssd' })
    const moving = await groupsOn(12)
    const states = await fixture.states()
    expect(moving.length).toBeGreaterThan(5)
    expect(Object.keys(states).every((state) => state.startsWith('active') && !/degraded|undersized/.test(state))).toBe(
      true,
    )
    expect(Object.keys(states).some((state) => state.includes('backfill'))).toBe(true)
    await fixture.seconds(120)
    expect(await fixture.states()).toEqual({ 'active+clean': 64 })
    expect((await groupsOn(12)).every(({ up, acting }) => up.join() === acting.join())).toBe(true)
  })

  it('makes the buckets of a host that is new, and leaves the numbers of the others as they are', async () => {
    fixture = await openCeph()
    const before = new Map((await tree()).nodes.map(({ id, name }) => [name, id]))
    fixture.ceph.controls.addOsd({ node: 'node-7', location: { zone: 'zone-b', rack: 'r9' } })
    await addPod(12, 'node-6')
    await fixture.seconds(15)
    const { nodes, stray } = await tree()
    expect(stray).toEqual([])
    const byName = new Map(nodes.map((node) => [node.name, node]))
    expect(byName.get('node-7')?.children).toEqual([12])
    expect(byName.get('r9')?.children).toEqual([byName.get('node-7')?.id])
    expect(byName.get('zone-b')?.children).toContain(byName.get('r9')?.id)
    for (const [name, id] of before) expect(byName.get(name)?.id).toBe(id)
  })

  it('leaves a new OSD out where the flag noin says so', async () => {
    fixture = await openCeph()
    await fixture.run('osd set', { key: 'noin' })
    fixture.ceph.controls.addOsd({ node: 'node-2' })
    await addPod(12, 'node-2')
    await fixture.seconds(15)
    expect(await dumpOf(12)).toMatchObject({ up: 1, in: 0 })
    expect(await groupsOn(12)).toEqual([])
  })

  it('takes an OSD whose pod was there first', async () => {
    fixture = await openCeph()
    await addPod(12, 'node-3')
    await fixture.seconds(15)
    expect(await dumpOf(12)).toBeUndefined()
    fixture.ceph.controls.addOsd({ node: 'node-3' })
    await fixture.seconds(5)
    expect(await dumpOf(12)).toMatchObject({ up: 1, in: 1 })
  })

  it('refuses an id that is taken and a type that CRUSH does not have, and stays as it was', async () => {
    fixture = await openCeph()
    const before = await fixture.run('osd dump')
    const { controls } = fixture.ceph
    expect(() => controls.addOsd({ id: 3, node: 'node-1' })).toThrow('there is already an osd.3')
    expect(() => controls.addOsd({ node: 'node-1', location: { shelf: 's' } })).toThrow('CRUSH has no type "shelf"')
    expect(await fixture.run('osd dump')).toEqual(before)
  })

  it('gives the same answers twice from one seed', async () => {
    const tell = async () => {
      fixture = await openCeph({ seed: 7 })
      fixture.ceph.controls.addOsd({ node: 'node-4' })
      await addPod(12, 'node-4')
      await fixture.seconds(30)
      const told = [await fixture.run('osd dump'), await fixture.run('pg dump', { dumpcontents: ['pgs'] })]
      fixture.stop()
      return told
    }
    expect(await tell()).toEqual(await tell())
  })
})
