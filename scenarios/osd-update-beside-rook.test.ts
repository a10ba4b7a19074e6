import { deployments, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { isOsd } from './testing/osd-update-oracle.ts'
import { namespace, openUpdateStage, type UpdateStage } from './testing/osd-update-stage.ts'

let stage: UpdateStage
afterEach(() => stage.close())

async function openBesideRook(budgetsOf?: 'rook' | 'cofferdam'): Promise<string[]> {
  stage = await openUpdateStage({
    isBesideRook: true,
    ...(budgetsOf && { budgetsOf }),
    annotations: { 'cofferdam.io/update-max-in-parallel': '4' },
  })
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

const budgetKey = { namespace, name: 'rook-ceph-osd' }
const allOnce = () =>
  stage
    .osdIds()
    .map((osd) => `${osd} anew`)
    .sort()

describe("beside Rook's own operator, whoever keeps the budgets", () => {
  it('a restart under our own budgets ends: they close to all others while it holds the storage, and not to itself', async () => {
    const written = await openBesideRook('cofferdam')
    expect((await stage.api.get(podDisruptionBudgets, budgetKey)).spec.maxUnavailable).toBe(1)
    await ask()
    await stage.until('some are on their way', () => stage.oracle.onTheWay().length > 0, 60)
    await stage.until(
      'the budget is closed',
      async () => (await stage.api.get(podDisruptionBudgets, budgetKey)).spec.maxUnavailable === 0,
      60,
    )
    await stage.until('all were restarted', () => stage.oracle.started.length >= 12, 1_200)
    await stage.until('all are back', () => stage.oracle.onTheWay().length === 0 && stage.holders().length === 0, 300)
    await stage.seconds(120)
    const { violations, below, started } = stage.oracle
    expect({ violations, below, written, started: [...started].sort() }).toEqual({
      violations: [],
      below: [],
      written: [],
      started: allOnce(),
    })
    expect(stage.oracle.mostAtOnce()).toBeGreaterThan(1)
    expect((await stage.api.get(podDisruptionBudgets, budgetKey)).spec.maxUnavailable).toBe(1)
    // Once it were 1,400 in an hour.
    expect(await stage.told()).toEqual([
      'Normal AnyOsdMayGo',
      'Normal StorageKeyHeld',
      'Normal OsdsUpdating',
      'Normal OsdsUpToDate',
      'Normal AnyOsdMayGo',
    ])
  }, 240_000)

  it("a restart under Rook's own budgets ends, within them, and nobody is said to be on its way that was not touched", async () => {
    const written = await openBesideRook('rook')
    await ask()
    const untouched: string[] = []
    await stage.until(
      'all were restarted',
      () => {
        const touched = new Set(stage.oracle.started.map((line) => Number(line.split(' ')[0])))
        const { running = [] } = JSON.parse(stage.record()?.data?.['progress'] ?? '{}') as { running?: number[] }
        untouched.push(...running.filter((osd) => !touched.has(osd)).map((osd) => `osd.${osd}`))
        return stage.oracle.started.length >= 12
      },
      3_600,
    )
    await stage.until('all are back', () => stage.oracle.onTheWay().length === 0 && stage.holders().length === 0, 300)
    await stage.seconds(120)
    const { violations, below, started } = stage.oracle
    expect({ violations, below, written, untouched, started: [...started].sort() }).toEqual({
      violations: [],
      below: [],
      written: [],
      untouched: [],
      started: allOnce(),
    })
    expect(await stage.told()).toEqual(['Normal ManagedElsewhere', 'Normal OsdsUpdating', 'Normal OsdsUpToDate'])
  }, 240_000)

  it('a budget of somebody else beside ours, and a lock of an owner, are waited for and named, and the restart ends after them', async () => {
    await openBesideRook('cofferdam')
    const theirs = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { namespace, name: 'team-storage' },
      spec: { maxUnavailable: 1, selector: { matchLabels: { osd: '3' } } },
    }
    await stage.api.create(podDisruptionBudgets, theirs)
    await ask()
    await stage.until('all others were restarted', () => stage.oracle.started.length >= 11, 1_200)
    await stage.until('the storage is free', () => stage.holders().length === 0, 300)
    await stage.seconds(300)
    const before = (await stage.told()).length
    await stage.seconds(600)
    expect(stage.record()?.data?.['blocked']).toContain('poddisruptionbudget/team-storage cover its pod')
    expect({
      held: stage.osdIds().filter((osd) => !stage.oracle.started.includes(`${osd} anew`)),
      news: (await stage.told()).length - before,
    }).toEqual({ held: [3], news: 0 })
    const until = new Date(stage.clock.now() + 900_000).toISOString()
    const lock = JSON.stringify({ holder: 'alice', reason: 'a backup runs', until })
    await stage.api.patch(podDisruptionBudgets, budgetKey, {
      type: 'merge',
      body: { metadata: { annotations: { 'cofferdam.io/lock': lock } } },
    })
    await stage.seconds(10)
    await stage.api.delete(podDisruptionBudgets, { namespace, name: 'team-storage' })
    await stage.seconds(300)
    expect(stage.oracle.started).not.toContain('3 anew')
    expect(stage.record()?.data?.['blocked']).toContain('alice locked budget rook-ceph/rook-ceph-osd')
    await stage.until('the last one was restarted', () => stage.oracle.started.includes('3 anew'), 900)
    await stage.until('all is over', () => stage.oracle.onTheWay().length === 0 && stage.holders().length === 0, 300)
    const { violations, below, started } = stage.oracle
    expect({ violations, below, started: [...started].sort() }).toEqual({
      violations: [],
      below: [],
      started: allOnce(),
    })
  }, 240_000)
})

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
    expect([...stage.oracle.started].sort()).toEqual(allOnce())
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
