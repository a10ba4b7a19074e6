import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type CephStage, daemon, type OsdDumpAnswer, openCeph } from './testing/ceph-stage.ts'

let stage: CephStage
afterEach(() => stage.stop())

interface TreeNode {
  readonly id: number
  readonly name: string
  readonly children?: readonly number[]
  readonly crush_weight?: number
  readonly device_class?: string
}

const tree = () => stage.ask<{ nodes: TreeNode[]; stray: TreeNode[] }>('osd tree')
const dumpOf = async (osd: number) =>
  (await stage.ask<OsdDumpAnswer>('osd dump')).osds.find((entry) => entry.osd === osd)
const groupsOn = async (osd: number) => (await stage.pgs()).filter(({ up }) => up.includes(osd))
const hostOf = async (osd: number) => (await tree()).nodes.find(({ children }) => children?.includes(osd))?.name

async function addPod(osd: number, node: string) {
  await stage.api.create(deployments, daemon('osd', String(osd), node))
}

describe('a Ceph that grows while it runs', () => {
  it('knows a new OSD at once, but moves nothing to it before its pod is ready', async () => {
    stage = await openCeph()
    const before = await stage.pgs()
    expect(stage.ceph.controls.addOsd({ node: 'node-1', weight: 2, deviceClass: 'hdd' })).toBe(12)
    await stage.seconds(60)
    expect(await dumpOf(12)).toMatchObject({ up: 0, in: 0, state: ['exists', 'new'] })
    expect((await tree()).stray.map(({ name }) => name)).toEqual(['osd.12'])
    expect((await stage.pgs()).map(({ up }) => up)).toEqual(before.map(({ up }) => up))
  })

  it('places it beside its host, fills it at the pace of recovery, and loses no copy on the way', async () => {
    stage = await openCeph()
    stage.ceph.controls.setRecoveryRate(1)
    stage.ceph.controls.addOsd({ id: 12, node: 'node-1', weight: 4 })
    await addPod(12, 'node-1')
    await stage.seconds(15)
    expect(await dumpOf(12)).toMatchObject({ up: 1, in: 1, state: ['exists', 'up'] })
    expect(await hostOf(12)).toBe('node-1')
    expect((await tree()).nodes.find(({ id }) => id === 12)).toMatchObject({ crush_weight: 4, device_class: 'ssd' })
    const moving = await groupsOn(12)
    const states = await stage.states()
    expect(moving.length).toBeGreaterThan(5)
    expect(Object.keys(states).every((state) => state.startsWith('active') && !/degraded|undersized/.test(state))).toBe(
      true,
    )
    expect(Object.keys(states).some((state) => state.includes('backfill'))).toBe(true)
    await stage.seconds(120)
    expect(await stage.states()).toEqual({ 'active+clean': 64 })
    expect((await groupsOn(12)).every(({ up, acting }) => up.join() === acting.join())).toBe(true)
  })

  it('makes the buckets of a host that is new, and leaves the numbers of the others as they are', async () => {
    stage = await openCeph()
    const before = new Map((await tree()).nodes.map(({ id, name }) => [name, id]))
    stage.ceph.controls.addOsd({ node: 'node-7', location: { zone: 'zone-b', rack: 'r9' } })
    await addPod(12, 'node-6')
    await stage.seconds(15)
    const { nodes, stray } = await tree()
    expect(stray).toEqual([])
    const byName = new Map(nodes.map((node) => [node.name, node]))
    expect(byName.get('node-7')?.children).toEqual([12])
    expect(byName.get('r9')?.children).toEqual([byName.get('node-7')?.id])
    expect(byName.get('zone-b')?.children).toContain(byName.get('r9')?.id)
    for (const [name, id] of before) expect(byName.get(name)?.id).toBe(id)
  })

  it('leaves a new OSD out where the flag noin says so', async () => {
    stage = await openCeph()
    await stage.run('osd set', { key: 'noin' })
    stage.ceph.controls.addOsd({ node: 'node-2' })
    await addPod(12, 'node-2')
    await stage.seconds(15)
    expect(await dumpOf(12)).toMatchObject({ up: 1, in: 0 })
    expect(await groupsOn(12)).toEqual([])
  })

  it('takes an OSD whose pod was there first', async () => {
    stage = await openCeph()
    await addPod(12, 'node-3')
    await stage.seconds(15)
    expect(await dumpOf(12)).toBeUndefined()
    stage.ceph.controls.addOsd({ node: 'node-3' })
    await stage.seconds(5)
    expect(await dumpOf(12)).toMatchObject({ up: 1, in: 1 })
  })

  it('refuses an id that is taken and a type that CRUSH does not have, and stays as it was', async () => {
    stage = await openCeph()
    const before = await stage.run('osd dump')
    const { controls } = stage.ceph
    expect(() => controls.addOsd({ id: 3, node: 'node-1' })).toThrow('there is already an osd.3')
    expect(() => controls.addOsd({ node: 'node-1', location: { shelf: 's' } })).toThrow('CRUSH has no type "shelf"')
    expect(await stage.run('osd dump')).toEqual(before)
  })

  it('gives the same answers twice from one seed', async () => {
    const tell = async () => {
      stage = await openCeph({ seed: 7 })
      stage.ceph.controls.addOsd({ node: 'node-4' })
      await addPod(12, 'node-4')
      await stage.seconds(30)
      const told = [await stage.run('osd dump'), await stage.run('pg dump', { dumpcontents: ['pgs'] })]
      stage.stop()
      return told
    }
    expect(await tell()).toEqual(await tell())
  })
})
