import { afterEach, describe, expect, it } from 'vitest'
import { openUpdateFixture, type UpdateFixture, type UpdateFixtureOptions } from './testing/osd-update-fixture.ts'

let fixture: UpdateFixture
afterEach(() => fixture.close())

const [old, next, other] = ['v19.2.3', 'v19.2.4', 'v19.2.5'] as const

async function openCalm(options: UpdateFixtureOptions = {}): Promise<void> {
  fixture = await openUpdateFixture({ annotations: { 'cofferdam.io/update-max-in-parallel': '4' }, ...options })
  fixture.trace.chapter('The operator comes')
  fixture.operate()
  await fixture.seconds(60)
}

function expectNoHarm(): void {
  expect({ violations: fixture.oracle.violations, below: fixture.oracle.below }).toEqual({ violations: [], below: [] })
}

const patient = 240_000

describe('the workflow of the design', () => {
  it(
    'another image: every OSD is updated once, several at a time, and every placement group is served throughout',
    async () => {
      await openCalm()
      fixture.trace.chapter('Another image is wanted')
      await fixture.want(next)
      await fixture.until('all are updated', () => fixture.isUpdated(next), 900)
      await fixture.until('the storage is given back', () => fixture.holders().length === 0, 120)
      expectNoHarm()
      expect([...fixture.oracle.started].sort()).toEqual(
        fixture
          .osdIds()
          .map((osd) => `${osd} ${next}`)
          .sort(),
      )
      expect(fixture.oracle.mostAtOnce()).toBeGreaterThan(1)
      await expect(fixture.trace.text()).toMatchFileSnapshot('./osd-update.golden.txt')
    },
    patient,
  )

  it(
    'the image changes again in the middle of a wait: it counts at once, and no OSD gets the first one after that',
    async () => {
      await openCalm()
      fixture.trace.chapter('Another image is wanted')
      await fixture.want(next)
      await fixture.until('some are on their way', () => fixture.oracle.onTheWay().length > 0, 30)
      await fixture.seconds(3)
      fixture.trace.chapter('Yet another one, while those are on their way')
      const before = fixture.oracle.started.length
      await fixture.want(other)
      await fixture.seconds(5)
      expect(fixture.oracle.started.slice(before).filter((start) => start.endsWith(other))).not.toEqual([])
      await fixture.until('all are updated', () => fixture.isUpdated(other), 900)
      await fixture.until('the storage is given back', () => fixture.holders().length === 0, 120)
      expect(fixture.oracle.started.slice(before).filter((start) => start.endsWith(next))).toEqual([])
      expectNoHarm()
      await expect(fixture.trace.text()).toMatchFileSnapshot('./osd-update-interrupted.golden.txt')
    },
    patient,
  )

  it(
    'the CephCluster is deleted in the middle: no further OSD is touched, and the storage is free',
    async () => {
      await openCalm()
      await fixture.patchCluster({ metadata: { finalizers: ['cephcluster.ceph.rook.io'] } })
      fixture.trace.chapter('Another image is wanted')
      await fixture.want(next)
      await fixture.until('some are on their way', () => fixture.oracle.onTheWay().length > 0, 30)
      await fixture.seconds(3)
      fixture.trace.chapter('The CephCluster is deleted')
      await fixture.deleteCluster()
      const before = fixture.oracle.started.length
      await fixture.seconds(300)
      expect(fixture.oracle.started.slice(before)).toEqual([])
      expect({ versions: fixture.versions(), holders: fixture.holders() }).toEqual({
        versions: `${old} ${next}`,
        holders: [],
      })
      expectNoHarm()
      await expect(fixture.trace.text()).toMatchFileSnapshot('./osd-update-deleted.golden.txt')
    },
    patient,
  )

  it(
    'a Deployment that is refused is recorded, all others are updated, and one error stands at the end',
    async () => {
      await openCalm()
      fixture.refuse(4)
      fixture.refuse(9)
      fixture.trace.chapter('Another image is wanted, and a policy forbids it for osd.4 and osd.9')
      await fixture.want(next)
      const failed = () => JSON.parse(fixture.record()?.data?.['record'] ?? '{}').failed ?? []
      await fixture.until('all others are updated', () => fixture.oracle.started.length === 10, 900)
      await fixture.until('the storage is given back', () => fixture.holders().length === 0, 120)
      await fixture.seconds(120)
      expect(fixture.versionsByOsd().filter((line) => line.endsWith(old))).toEqual([`4: ${old}`, `9: ${old}`])
      expect(
        failed()
          .map(({ osd }: { osd: number }) => osd)
          .sort(),
      ).toEqual([4, 9])
      expect((await fixture.told()).filter((line) => line.endsWith('OsdUpdateFailed'))).toHaveLength(1)
      expectNoHarm()
      await expect(fixture.trace.text()).toMatchFileSnapshot('./osd-update-refused.golden.txt')
    },
    patient,
  )

  it(
    'a bad image stops at the first OSD that does not come back, and a good one lets it go on',
    async () => {
      await openCalm({
        annotations: {
          'cofferdam.io/update-max-in-parallel': '4',
          'cofferdam.io/update-canary': 'true',
          'cofferdam.io/update-deadline-seconds': '120',
        },
      })
      fixture.spoil(next)
      fixture.trace.chapter('An image is wanted whose OSDs crash')
      await fixture.want(next)
      await fixture.until('it is frozen', async () => (await fixture.told()).includes('Warning OsdUpdateFrozen'), 400)
      await fixture.seconds(300)
      expect(fixture.oracle.started).toHaveLength(1)
      fixture.trace.chapter('A good image is wanted')
      await fixture.want(other)
      await fixture.until('all are updated', () => fixture.isUpdated(other), 900)
      await fixture.until('the storage is given back', () => fixture.holders().length === 0, 120)
      expectNoHarm()
      await expect(fixture.trace.text()).toMatchFileSnapshot('./osd-update-bad-image.golden.txt')
    },
    patient,
  )
})
