import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { configMaps } from '@cofferdam/kubernetes/api/resources.ts'
import { cephImage } from '@cofferdam/simulator/cluster-file/build-ceph-resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { createDisruption, installDefinitions } from '../../../ledger/store/testing/ledger-fixture.ts'
import { nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import { namespace } from '../../ceph-drain/testing/ceph-fixture.ts'
import { parseUpdateObjects } from '../domain/parse-update-objects.ts'
import { updateRecordName } from '../domain/update-record.ts'
import { parseUpdateReport } from '../domain/update-report.ts'
import { newImage, type OsdUpdateFixture, openOsdUpdateFixture } from '../testing/osd-update-fixture.ts'
import { explainOsdUpdate } from '../view/explain-osd-update.ts'
import { isUpdateNotable, type SeenUpdate, summarizeUpdate } from '../view/summarize-update.ts'

let fixture: OsdUpdateFixture

afterEach(() => fixture.close())

const name = 'rook-ceph'
const isUpdated = async () => (await fixture.images()).join() === newImage
const writesOf = (object: string) => fixture.written.filter((write) => write.endsWith(object)).length

/** An update to which Ceph has said no for so long. */
async function openRefused(seconds: number): Promise<void> {
  fixture = await openOsdUpdateFixture()
  await installDefinitions(fixture.api)
  fixture.operate({ controllers: ['ceph-drain', 'osd-update', 'node-disruption', 'disruption-ledger'] })
  await fixture.seconds(120)
  fixture.ceph.controls.lieOkToStop('no')
  fixture.written.length = 0
  fixture.asked.length = 0
  await fixture.wantImage(newImage)
  await fixture.seconds(seconds)
}

async function seenUpdate(): Promise<SeenUpdate> {
  const cluster = await fixture.api.get(cephClusters, { namespace, name })
  const record = await fixture.api.get(configMaps, { namespace, name: updateRecordName({ name }) })
  const deployments = await fixture.osds()
  const { osds } = parseUpdateObjects({
    deployments,
    pods: [],
    cluster,
    isBesideRook: false,
    restartAskedMs: undefined,
  })
  const report = parseUpdateReport(record, fixture.clock.now())
  return { cluster, mode: 'own', isNamed: true, report, osds, growth: undefined, isAttended: true }
}

describe('an update to which Ceph says no for an hour', () => {
  it('leaves the storage to others: it took and released it 240 times, and every time the budgets of all OSDs closed and opened', async () => {
    await openRefused(3_600)
    expect([
      writesOf('disruptionledgers/cluster') <= 4,
      writesOf('poddisruptionbudgets/rook-ceph-osd') <= 4,
      writesOf(`configmaps/${updateRecordName({ name })}`),
    ]).toEqual([true, true, 1])
  })

  it('asks less and less often, and no less than every two minutes: each question is a scan of all placement groups', async () => {
    await openRefused(3_600)
    const asked = fixture.asked.filter((command) => command.startsWith('osd ok-to-stop')).length
    expect([asked >= 30, asked <= 40]).toEqual([true, true])
  })

  it('is in the way of no reboot meanwhile', async () => {
    await openRefused(600)
    fixture.ceph.controls.lieOkToStop(undefined)
    await createDisruption(fixture.api, 'reboot-y', 'node-y')
    const isDrained = async () => {
      const { status } = await fixture.api.get(nodeDisruptions, { name: 'reboot-y' })
      return status?.phase === 'Drained'
    }
    expect([await fixture.until(isDrained, 120), await fixture.images()]).toEqual([true, [cephImage]])
  })

  it('begins within two minutes of the yes', async () => {
    await openRefused(1_800)
    fixture.ceph.controls.lieOkToStop(undefined)
    expect(await fixture.until(async () => (await fixture.images()).includes(newImage), 125)).toBe(true)
    expect(await fixture.until(isUpdated, 900)).toBe(true)
    expect(fixture.broken).toEqual([])
  })

  it('says so in status and explain for as long as it lasts, and which OSDs Ceph does not let stop', async () => {
    await openRefused(3_600)
    const seen = await seenUpdate()
    const summary = summarizeUpdate(seen)
    const explanation = expect.stringMatching(
      /^Ceph does not call it safe to stop osd\..* together, and nothing starts/,
    )
    expect(summary).toMatchObject({ reason: 'CephDisagrees', explanation, outdated: 6, progress: { running: [] } })
    expect(isUpdateNotable(summary, fixture.clock.now())).toBe(true)
    expect(explainOsdUpdate(seen, 3)).toMatchObject({ state: 'blocked', reason: 'CephDisagrees', explanation })
  })
})
