import { afterEach, describe, expect, it } from 'vitest'
import { openUpdateStage, type UpdateStage, type UpdateStageOptions } from './testing/osd-update-stage.ts'

let stage: UpdateStage
afterEach(() => stage.close())

const [old, next, other] = ['v19.2.3', 'v19.2.4', 'v19.2.5'] as const

async function openCalm(options: UpdateStageOptions = {}): Promise<void> {
  stage = await openUpdateStage({ annotations: { 'cofferdam.io/update-max-in-parallel': '4' }, ...options })
  stage.trace.chapter('The operator comes')
  stage.operate()
  await stage.seconds(60)
}

function expectNoHarm(): void {
  expect({ violations: stage.oracle.violations, below: stage.oracle.below }).toEqual({ violations: [], below: [] })
}

const patient = 240_000

describe('the workflow of the design', () => {
  it(
    'another image: every OSD is updated once, several at a time, and every placement group is served throughout',
    async () => {
      await openCalm()
      stage.trace.chapter('Another image is wanted')
      await stage.want(next)
      await stage.until('all are updated', () => stage.isUpdated(next), 900)
      await stage.until('the storage is given back', () => stage.holders().length === 0, 120)
      expectNoHarm()
      expect([...stage.oracle.started].sort()).toEqual(
        stage
          .osdIds()
          .map((osd) => `${osd} ${next}`)
          .sort(),
      )
      expect(stage.oracle.mostAtOnce()).toBeGreaterThan(1)
      await expect(stage.trace.text()).toMatchFileSnapshot('./osd-update.golden.txt')
    },
    patient,
  )

  it(
    'the image changes again in the middle of a wait: it counts at once, and no OSD gets the first one after that',
    async () => {
      await openCalm()
      stage.trace.chapter('Another image is wanted')
      await stage.want(next)
      await stage.until('some are on their way', () => stage.oracle.onTheWay().length > 0, 30)
      await stage.seconds(3)
      stage.trace.chapter('Yet another one, while those are on their way')
      const before = stage.oracle.started.length
      await stage.want(other)
      await stage.seconds(5)
      expect(stage.oracle.started.slice(before).filter((start) => start.endsWith(other))).not.toEqual([])
      await stage.until('all are updated', () => stage.isUpdated(other), 900)
      await stage.until('the storage is given back', () => stage.holders().length === 0, 120)
      expect(stage.oracle.started.slice(before).filter((start) => start.endsWith(next))).toEqual([])
      expectNoHarm()
      await expect(stage.trace.text()).toMatchFileSnapshot('./osd-update-interrupted.golden.txt')
    },
    patient,
  )

  it(
    'the CephCluster is deleted in the middle: no further OSD is touched, and the storage is free',
    async () => {
      await openCalm()
      await stage.patchCluster({ metadata: { finalizers: ['cephcluster.ceph.rook.io'] } })
      stage.trace.chapter('Another image is wanted')
      await stage.want(next)
      await stage.until('some are on their way', () => stage.oracle.onTheWay().length > 0, 30)
      await stage.seconds(3)
      stage.trace.chapter('The CephCluster is deleted')
      await stage.deleteCluster()
      const before = stage.oracle.started.length
      await stage.seconds(300)
      expect(stage.oracle.started.slice(before)).toEqual([])
      expect({ versions: stage.versions(), holders: stage.holders() }).toEqual({
        versions: `${old} ${next}`,
        holders: [],
      })
      expectNoHarm()
      await expect(stage.trace.text()).toMatchFileSnapshot('./osd-update-deleted.golden.txt')
    },
    patient,
  )

  it(
    'a Deployment that is refused is recorded, all others are updated, and one error stands at the end',
    async () => {
      await openCalm()
      stage.refuse(4)
      stage.refuse(9)
      stage.trace.chapter('Another image is wanted, and a policy forbids it for osd.4 and osd.9')
      await stage.want(next)
      const failed = () => JSON.parse(stage.record()?.data?.['record'] ?? '{}').failed ?? []
      await stage.until('all others are updated', () => stage.oracle.started.length === 10, 900)
      await stage.until('the storage is given back', () => stage.holders().length === 0, 120)
      await stage.seconds(120)
      expect(stage.versionsByOsd().filter((line) => line.endsWith(old))).toEqual([`4: ${old}`, `9: ${old}`])
      expect(
        failed()
          .map(({ osd }: { osd: number }) => osd)
          .sort(),
      ).toEqual([4, 9])
      expect((await stage.told()).filter((line) => line.endsWith('OsdUpdateFailed'))).toHaveLength(1)
      expectNoHarm()
      await expect(stage.trace.text()).toMatchFileSnapshot('./osd-update-refused.golden.txt')
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
      stage.spoil(next)
      stage.trace.chapter('An image is wanted whose OSDs crash')
      await stage.want(next)
      await stage.until('it is frozen', async () => (await stage.told()).includes('Warning OsdUpdateFrozen'), 400)
      await stage.seconds(300)
      expect(stage.oracle.started).toHaveLength(1)
      stage.trace.chapter('A good image is wanted')
      await stage.want(other)
      await stage.until('all are updated', () => stage.isUpdated(other), 900)
      await stage.until('the storage is given back', () => stage.holders().length === 0, 120)
      expectNoHarm()
      await expect(stage.trace.text()).toMatchFileSnapshot('./osd-update-bad-image.golden.txt')
    },
    patient,
  )
})
