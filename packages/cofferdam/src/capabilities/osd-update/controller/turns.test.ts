import { cephImage } from '@cofferdam/simulator/cluster-file/build-ceph-resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { installDefinitions, ledgerObject } from '../../../ledger/store/testing/ledger-stage.ts'
import { zonedCluster } from '../../ceph-drain/testing/ceph-stage.ts'
import { osdImage } from '../domain/osd-deployment.ts'
import { newImage, type OsdUpdateStage, openOsdUpdateStage } from '../testing/osd-update-stage.ts'

let stage: OsdUpdateStage

afterEach(() => stage.close())

const controllers = ['ceph-drain', 'osd-update', 'node-disruption', 'disruption-ledger'] as const

/** Zones x, y and z with four OSDs each, of which one at a time is updated. */
const cluster = zonedCluster({ osdsPerNode: 4 })

async function open() {
  stage = await openOsdUpdateStage(cluster)
  await installDefinitions(stage.api)
  await stage.patchCluster({ metadata: { annotations: { 'cofferdam.io/update-max-in-parallel': '1' } } })
  const operator = stage.operate({ controllers: [...controllers] })
  await stage.seconds(120)
  return operator
}

async function updated(): Promise<number> {
  return (await stage.osds()).filter((osd) => osdImage(osd) === newImage).length
}

async function holders(): Promise<string[]> {
  const { status } = await ledgerObject(stage.api)
  return (status?.entries ?? []).map(({ requestId, scope }) => `${requestId.split('/')[0]} holds ${scope || 'all'}`)
}

async function begin(): Promise<void> {
  await stage.wantImage(newImage)
  expect(await stage.until(async () => (await updated()) >= 2, 120)).toBe(true)
}

/** As `kubectl drain` does: cordons, and asks every 5 s for what still runs there to go. */
async function drain(node: string, osds: readonly number[], withinSeconds: number): Promise<readonly number[]> {
  await stage.cordon(node)
  const going = new Set<number>()
  const end = stage.clock.now() + withinSeconds * 1_000
  while (stage.clock.now() < end && going.size < osds.length) {
    for (const osd of osds) if (!going.has(osd) && (await stage.evictOsd(osd)) === 'going') going.add(osd)
    await stage.watch(5)
  }
  return [...going].sort((a, b) => a - b)
}

async function turns() {
  const parsed = await stage.updateRecord()
  return 'record' in parsed ? parsed.record.turns : parsed.problem
}

const osdsOn = async (node: string) =>
  (await stage.osds())
    .filter(({ spec }) => spec.template.spec.nodeSelector?.['kubernetes.io/hostname'] === node)
    .map(({ metadata }) => Number(metadata.labels?.['ceph-osd-id']))
    .sort((a, b) => a - b)

describe('a plain drain in the middle of an update', () => {
  it('gets the storage after what is on its way, long before the update ends; the update goes on when the node is back', async () => {
    await open()
    await begin()
    const osds = await osdsOn('node-y')
    expect(await drain('node-y', osds, 200)).toEqual(osds)
    const before = await updated()
    expect([before < 5, await holders(), await stage.images()]).toEqual([
      true,
      ['ceph-drain holds y'],
      [cephImage, newImage],
    ])
    await stage.watch(120)
    expect(await updated()).toBe(before)
    await stage.cordon('node-y', false)
    expect(await stage.until(async () => (await updated()) === 12, 1_200)).toBe(true)
    await stage.watch(120)
    const told = (await stage.told()).filter((line) => line.endsWith('DrainFirst'))
    expect([stage.broken, await holders(), told, await turns()]).toEqual([[], [], ['Normal DrainFirst'], undefined])
  })
})

describe('a cordon that nobody drains', () => {
  it('delays the update once, by a minute and not for the days that it lasts', async () => {
    await open()
    await begin()
    await stage.cordon('node-y')
    expect(await stage.until(async () => (await holders()).length === 0, 60)).toBe(true)
    const [before, freeMs] = [await updated(), stage.clock.now()]
    expect(await stage.until(async () => (await holders()).length > 0, 120)).toBe(true)
    const seconds = (stage.clock.now() - freeMs) / 1_000
    expect([await turns(), before < 5, seconds >= 58 && seconds <= 66]).toEqual([{ had: ['node-y'] }, true, true])
    // All but the four of the cordoned node, and nothing comes in between.
    let pauses = 0
    const untouched = (await osdsOn('node-y')).length
    expect(
      await stage.until(async () => {
        if ((await holders()).length === 0) pauses += 1
        return (await updated()) >= 12 - untouched
      }, 900),
    ).toBe(true)
    expect([pauses, stage.broken]).toEqual([0, []])
  })

  it('has had its turn also for the operator that comes after a crash, which neither repeats nor skips what is left of it', async () => {
    const first = await open()
    await begin()
    await stage.cordon('node-y')
    expect(await stage.until(async () => (await holders()).length === 0, 60)).toBe(true)
    const freeMs = stage.clock.now()
    await stage.watch(20)
    const stopped = first.stop()
    await stage.watch(5)
    await stopped
    stage.operate({ controllers: [...controllers] })
    expect(await stage.until(async () => (await holders()).length > 0, 120)).toBe(true)
    const seconds = (stage.clock.now() - freeMs) / 1_000
    expect([await turns(), seconds >= 58 && seconds <= 70]).toEqual([{ had: ['node-y'] }, true])
    expect(await stage.until(async () => (await updated()) >= 8, 900)).toBe(true)
    expect([await turns(), stage.broken]).toEqual([{ had: ['node-y'] }, []])
  })
})
