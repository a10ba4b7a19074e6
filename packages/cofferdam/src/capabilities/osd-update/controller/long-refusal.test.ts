import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { configMaps } from '@cofferdam/kubernetes/api/resources.ts'
import { cephImage } from '@cofferdam/simulator/cluster-file/build-ceph-resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { createDisruption, installDefinitions } from '../../../ledger/store/testing/ledger-stage.ts'
import { nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import { namespace } from '../../ceph-drain/testing/ceph-stage.ts'
import { parseUpdateObjects } from '../domain/parse-update-objects.ts'
import { updateRecordName } from '../domain/update-record.ts'
import { parseUpdateReport } from '../domain/update-report.ts'
import { newImage, type OsdUpdateStage, openOsdUpdateStage } from '../testing/osd-update-stage.ts'
import { explainOsdUpdate } from '../view/explain-osd-update.ts'
import { isUpdateNews, type SeenUpdate, summarizeUpdate } from '../view/summarize-update.ts'

let stage: OsdUpdateStage

afterEach(() => stage.close())

const name = 'rook-ceph'
const isUpdated = async () => (await stage.images()).join() === newImage
const writesOf = (object: string) => stage.written.filter((write) => write.endsWith(object)).length

/** An update to which Ceph has said no for so long. */
async function openRefused(seconds: number): Promise<void> {
  stage = await openOsdUpdateStage()
  await installDefinitions(stage.api)
  stage.operate({ controllers: ['ceph-drain', 'osd-update', 'node-disruption', 'disruption-ledger'] })
  await stage.seconds(120)
  stage.ceph.controls.lieOkToStop('no')
  stage.written.length = 0
  stage.asked.length = 0
  await stage.wantImage(newImage)
  await stage.seconds(seconds)
}

async function seenUpdate(): Promise<SeenUpdate> {
  const cluster = await stage.api.get(cephClusters, { namespace, name })
  const record = await stage.api.get(configMaps, { namespace, name: updateRecordName({ name }) })
  const deployments = await stage.osds()
  const { osds } = parseUpdateObjects({
    deployments,
    pods: [],
    cluster,
    isBesideRook: false,
    restartAskedMs: undefined,
  })
  const report = parseUpdateReport(record, stage.clock.now())
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
    const asked = stage.asked.filter((command) => command.startsWith('osd ok-to-stop')).length
    expect([asked >= 30, asked <= 40]).toEqual([true, true])
  })

  it('is in the way of no reboot meanwhile', async () => {
    await openRefused(600)
    stage.ceph.controls.lieOkToStop(undefined)
    await createDisruption(stage.api, 'reboot-y', 'node-y')
    const isDrained = async () => {
      const { status } = await stage.api.get(nodeDisruptions, { name: 'reboot-y' })
      return status?.phase === 'Drained'
    }
    expect([await stage.until(isDrained, 120), await stage.images()]).toEqual([true, [cephImage]])
  })

  it('begins within two minutes of the yes', async () => {
    await openRefused(1_800)
    stage.ceph.controls.lieOkToStop(undefined)
    expect(await stage.until(async () => (await stage.images()).includes(newImage), 125)).toBe(true)
    expect(await stage.until(isUpdated, 900)).toBe(true)
    expect(stage.broken).toEqual([])
  })

  it('says so in status and explain for as long as it lasts, and which OSDs Ceph does not let stop', async () => {
    await openRefused(3_600)
    const seen = await seenUpdate()
    const summary = summarizeUpdate(seen)
    const explanation = expect.stringMatching(
      /^Ceph does not call it safe to stop osd\..* together, and nothing starts/,
    )
    expect(summary).toMatchObject({ reason: 'CephDisagrees', explanation, outdated: 6, progress: { running: [] } })
    expect(isUpdateNews(summary, stage.clock.now())).toBe(true)
    expect(explainOsdUpdate(seen, 3)).toMatchObject({ state: 'blocked', reason: 'CephDisagrees', explanation })
  })
})
