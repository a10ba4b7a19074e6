import { afterEach, describe, expect, it } from 'vitest'
import type { UpdateFixtureOptions } from './testing/osd-update-fixture.ts'
import { openPacedFixture, type PacedFixture } from './testing/osd-update-pace.ts'

let fixture: PacedFixture
afterEach(() => fixture.close())

async function openPaced(options: UpdateFixtureOptions = {}): Promise<void> {
  fixture = await openPacedFixture(options)
  fixture.operate()
  await fixture.until('all are held', () => fixture.labels().length === 12, 120)
}

const once = (version: string) =>
  fixture
    .osdIds()
    .map((osd) => `${osd} ${version}`)
    .sort()

const isDone = (version: string) => fixture.isUpdated(version) && fixture.isOver() && fixture.labels().length === 12

describe('Rook updates OSDs, Cofferdam chooses the order', () => {
  it('another image reaches 12 OSDs in planned rounds, each once, no placement group falls below its floor, and all are held again', async () => {
    await openPaced()
    fixture.trace.chapter('Another image is wanted')
    await fixture.want('v19.2.4')
    await fixture.until('all run it and are held again', () => isDone('v19.2.4'), 1_800)
    await fixture.seconds(120)
    const { violations, below, started } = fixture.oracle
    expect({ violations, below, started: [...started].sort(), labels: fixture.labels() }).toEqual({
      violations: [],
      below: [],
      started: once('v19.2.4'),
      labels: fixture.allHeld(),
    })
    expect(await fixture.told()).toEqual([
      'Normal ManagedElsewhere',
      'Normal WaitsForRook',
      'Normal OsdsUpdating',
      'Normal OsdsUpToDate',
    ])
    await expect(fixture.trace.text()).toMatchFileSnapshot('./osd-update-pace.golden.txt')
  })

  it('a change that only Rook can judge reaches every OSD too, and one that changes no OSD stops none', async () => {
    await openPaced()
    await fixture.patchCluster({ spec: { resources: { osd: { limits: { memory: '4Gi' } } } } })
    await fixture.until('all were changed', () => fixture.oracle.started.length === 12, 1_800)
    await fixture.until('all are held again', () => fixture.isOver() && fixture.labels().length === 12, 300)
    const { begun } = fixture.rookLoop?.passes ?? { begun: 0 }
    await fixture.patchCluster({ spec: { waitTimeoutForHealthyOSDInMinutes: 12 } })
    await fixture.seconds(600)
    const { violations, below, started } = fixture.oracle
    expect({ violations, below, started: started.length, labels: fixture.labels() }).toEqual({
      violations: [],
      below: [],
      started: 12,
      labels: fixture.allHeld(),
    })
    expect(fixture.rookLoop?.passes.begun).toBeGreaterThan(begun + 3)
    expect(fixture.record()?.data?.['record']).not.toContain('pending')
  })

  it('an OSD that does not come back keeps the rest held, and another image cures it', async () => {
    await openPaced({ rookUpdates: 'osds-only', annotations: { 'cofferdam.io/update-deadline-seconds': '120' } })
    fixture.spoil('v19.2.4')
    await fixture.want('v19.2.4')
    await fixture.until('it is frozen', async () => (await fixture.told()).includes('Warning OsdUpdateFrozen'), 900)
    const touched = fixture.oracle.started.length
    await fixture.seconds(600)
    expect(touched).toBeLessThanOrEqual(4)
    expect(fixture.oracle.started.length).toBe(touched)
    expect(fixture.labels().length).toBeGreaterThanOrEqual(12 - 4)
    await fixture.want('v19.2.5')
    await fixture.until('all run the cure and are held again', () => isDone('v19.2.5'), 3_600)
    expect(fixture.oracle.below).toEqual([])
  })
})
