import { cephImage } from '@cofferdam/simulator/cluster-file/build-ceph-resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { installDefinitions, ledgerObject } from '../../../ledger/store/testing/ledger-fixture.ts'
import { zonedCluster } from '../../ceph-drain/testing/ceph-fixture.ts'
import { osdImage } from '../domain/osd-deployment.ts'
import { newImage, type OsdUpdateFixture, openOsdUpdateFixture } from '../testing/osd-update-fixture.ts'

let fixture: OsdUpdateFixture

afterEach(() => fixture.close())

const controllers = ['ceph-drain', 'osd-update', 'node-disruption', 'disruption-ledger'] as const

/** Zones x, y and z with four OSDs each, of which one at a time is updated. */
const cluster = zonedCluster({ osdsPerNode: 4 })

async function open() {
  fixture = await openOsdUpdateFixture(cluster)
  await installDefinitions(fixture.api)
  await fixture.patchCluster({ metadata: { annotations: { 'cofferdam.io/update-max-in-parallel': '1' } } })
  const operator = fixture.operate({ controllers: [...controllers] })
  await fixture.seconds(120)
  return operator
}

async function updated(): Promise<number> {
  return (await fixture.osds()).filter((osd) => osdImage(osd) === newImage).length
}

async function holders(): Promise<string[]> {
  const { status } = await ledgerObject(fixture.api)
  return (status?.entries ?? []).map(({ requestId, scope }) => `${requestId.split('/')[0]} holds ${scope || 'all'}`)
}

async function begin(): Promise<void> {
  await fixture.wantImage(newImage)
  expect(await fixture.until(async () => (await updated()) >= 2, 120)).toBe(true)
}

/** As `kubectl drain` does: cordons, and asks every 5 s for what still runs there to go. */
async function drain(node: string, osds: readonly number[], withinSeconds: number): Promise<readonly number[]> {
  await fixture.cordon(node)
  const going = new Set<number>()
  const end = fixture.clock.now() + withinSeconds * 1_000
  while (fixture.clock.now() < end && going.size < osds.length) {
    for (const osd of osds) if (!going.has(osd) && (await fixture.evictOsd(osd)) === 'going') going.add(osd)
    await fixture.watch(5)
  }
  return [...going].sort((a, b) => a - b)
}

async function turns() {
  const parsed = await fixture.updateRecord()
  return 'record' in parsed ? parsed.record.turns : parsed.problem
}

const osdsOn = async (node: string) =>
  (await fixture.osds())
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
    expect([before < 5, await holders(), await fixture.images()]).toEqual([
      true,
      ['ceph-drain holds y'],
      [cephImage, newImage],
    ])
    await fixture.watch(120)
    expect(await updated()).toBe(before)
    await fixture.cordon('node-y', false)
    expect(await fixture.until(async () => (await updated()) === 12, 1_200)).toBe(true)
    await fixture.watch(120)
    const told = (await fixture.told()).filter((line) => line.endsWith('DrainFirst'))
    expect([fixture.broken, await holders(), told, await turns()]).toEqual([[], [], ['Normal DrainFirst'], undefined])
  })
})

describe('a cordon that nobody drains', () => {
  it('delays the update once, by a minute and not for the days that it lasts', async () => {
    await open()
    await begin()
    await fixture.cordon('node-y')
    expect(await fixture.until(async () => (await holders()).length === 0, 60)).toBe(true)
    const [before, freeMs] = [await updated(), fixture.clock.now()]
    expect(await fixture.until(async () => (await holders()).length > 0, 120)).toBe(true)
    const seconds = (fixture.clock.now() - freeMs) / 1_000
    expect([await turns(), before < 5, seconds >= 58 && seconds <= 66]).toEqual([{ had: ['node-y'] }, true, true])
    // All but the four of the cordoned node, and nothing comes in between.
    let pauses = 0
    const untouched = (await osdsOn('node-y')).length
    expect(
      await fixture.until(async () => {
        if ((await holders()).length === 0) pauses += 1
        return (await updated()) >= 12 - untouched
      }, 900),
    ).toBe(true)
    expect([pauses, fixture.broken]).toEqual([0, []])
  })

  it('has had its turn also for the operator that comes after a crash, which neither repeats nor skips what is left of it', async () => {
    const first = await open()
    await begin()
    await fixture.cordon('node-y')
    expect(await fixture.until(async () => (await holders()).length === 0, 60)).toBe(true)
    const freeMs = fixture.clock.now()
    await fixture.watch(20)
    const stopped = first.stop()
    await fixture.watch(5)
    await stopped
    fixture.operate({ controllers: [...controllers] })
    expect(await fixture.until(async () => (await holders()).length > 0, 120)).toBe(true)
    const seconds = (fixture.clock.now() - freeMs) / 1_000
    expect([await turns(), seconds >= 58 && seconds <= 70]).toEqual([{ had: ['node-y'] }, true])
    expect(await fixture.until(async () => (await updated()) >= 8, 900)).toBe(true)
    expect([await turns(), fixture.broken]).toEqual([{ had: ['node-y'] }, []])
  })
})
