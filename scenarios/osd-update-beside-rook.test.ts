import { afterEach, describe, expect, it } from 'vitest'
import { deployments } from '../src/api/resources.ts'
import { timestamp } from '../src/runtime/clock.ts'
import { isOsd } from './testing/osd-update-oracle.ts'
import { namespace, openUpdateStage, type UpdateStage } from './testing/osd-update-stage.ts'

let stage: UpdateStage
afterEach(() => stage.close())

async function openBesideRook(): Promise<string[]> {
  stage = await openUpdateStage({ isBesideRook: true, annotations: { 'cofferdam.io/update-max-in-parallel': '4' } })
  const written: string[] = []
  stage.views.of(deployments).subscribe(({ before, after }) => {
    const isChanged = before !== undefined && after !== undefined && isOsd(after, namespace)
    if (isChanged && before.metadata.generation !== after.metadata.generation) written.push(after.metadata.name)
  })
  stage.operate()
  await stage.seconds(60)
  return written
}

const ask = () =>
  stage.patchCluster({ metadata: { annotations: { 'cofferdam.io/restart-osds': timestamp(stage.clock) } } })

describe("beside Rook's own operator", () => {
  it('a restart that is asked for goes in safe rounds by eviction, each OSD once, and no Deployment is written', async () => {
    const written = await openBesideRook()
    stage.trace.chapter('Another image is wanted: that is for Rook')
    await stage.want('v19.2.4')
    await stage.seconds(120)
    expect(stage.oracle.started).toEqual([])
    stage.trace.chapter('All OSDs are to be restarted')
    await ask()
    await stage.until('all were restarted', () => stage.oracle.started.length >= 12, 1_200)
    await stage.until('all are back', () => stage.oracle.onTheWay().length === 0 && stage.holders().length === 0, 300)
    await stage.seconds(120)
    expect([...stage.oracle.started].sort()).toEqual(
      stage
        .osdIds()
        .map((osd) => `${osd} anew`)
        .sort(),
    )
    const { violations, below } = stage.oracle
    expect({ violations, below, written }).toEqual({ violations: [], below: [], written: [] })
    await expect(stage.trace.text()).toMatchFileSnapshot('./osd-update-beside-rook.golden.txt')
  }, 240_000)

  it('a restart and a request for a node never have the storage at the same time, and both end', async () => {
    const written = await openBesideRook()
    await ask()
    await stage.until('some are on their way', () => stage.oracle.onTheWay().length > 0, 60)
    await stage.request('reboot', 'storage-5')
    await stage.until('the node may reboot', () => stage.phaseOf('reboot') === 'Drained', 600)
    stage.world.kubelet.reboot('storage-5', 20)
    await stage.until('the request is over', () => stage.phaseOf('reboot') === 'Completed', 400)
    await stage.until('all is over', () => stage.holders().length === 0 && stage.oracle.onTheWay().length === 0, 1_200)
    await stage.seconds(60)
    expect({ below: stage.oracle.below, written }).toEqual({ below: [], written: [] })
  }, 240_000)
})
