import { deployments, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { namespace, openUpdateFixture, type UpdateFixture } from './testing/osd-update-fixture.ts'
import { isOsd } from './testing/osd-update-oracle.ts'

let fixture: UpdateFixture
afterEach(() => fixture.close())

async function openBesideRook(budgetsOf?: 'rook' | 'cofferdam'): Promise<string[]> {
  fixture = await openUpdateFixture({
    isBesideRook: true,
    ...(budgetsOf && { budgetsOf }),
    annotations: { 'cofferdam.io/update-max-in-parallel': '4' },
  })
  const written: string[] = []
  fixture.views.of(deployments).subscribe(({ before, after }) => {
    const isChanged = before !== undefined && after !== undefined && isOsd(after, namespace)
    if (isChanged && before.metadata.generation !== after.metadata.generation) written.push(after.metadata.name)
  })
  fixture.operate()
  await fixture.seconds(60)
  return written
}

const ask = () =>
  fixture.patchCluster({ metadata: { annotations: { 'cofferdam.io/restart-osds': timestamp(fixture.clock) } } })

const budgetKey = { namespace, name: 'rook-ceph-osd' }
const allOnce = () =>
  fixture
    .osdIds()
    .map((osd) => `${osd} anew`)
    .sort()

describe("beside Rook's own operator, whoever keeps the budgets", () => {
  it('a restart under our own budgets ends: they close to all others while it holds the storage, and not to itself', async () => {
    const written = await openBesideRook('cofferdam')
    expect((await fixture.api.get(podDisruptionBudgets, budgetKey)).spec.maxUnavailable).toBe(1)
    await ask()
    await fixture.until('some are on their way', () => fixture.oracle.onTheWay().length > 0, 60)
    await fixture.until(
      'the budget is closed',
      async () => (await fixture.api.get(podDisruptionBudgets, budgetKey)).spec.maxUnavailable === 0,
      60,
    )
    await fixture.until('all were restarted', () => fixture.oracle.started.length >= 12, 1_200)
    await fixture.until(
      'all are back',
      () => fixture.oracle.onTheWay().length === 0 && fixture.holders().length === 0,
      300,
    )
    await fixture.seconds(120)
    const { violations, below, started } = fixture.oracle
    expect({ violations, below, written, started: [...started].sort() }).toEqual({
      violations: [],
      below: [],
      written: [],
      started: allOnce(),
    })
    expect(fixture.oracle.mostAtOnce()).toBeGreaterThan(1)
    expect((await fixture.api.get(podDisruptionBudgets, budgetKey)).spec.maxUnavailable).toBe(1)
    // Once it were 1,400 in an hour.
    expect(await fixture.told()).toEqual([
      'Normal AnyOsdMayGo',
      'Normal StorageKeyHeld',
      'Normal OsdsUpdating',
      'Normal OsdsUpToDate',
      'Normal AnyOsdMayGo',
    ])
  })

  it("a restart under Rook's own budgets ends, within them, and nobody is said to be on its way that was not touched", async () => {
    const written = await openBesideRook('rook')
    await ask()
    const untouched: string[] = []
    await fixture.until(
      'all were restarted',
      () => {
        const touched = new Set(fixture.oracle.started.map((line) => Number(line.split(' ')[0])))
        const { running = [] } = JSON.parse(fixture.record()?.data?.['progress'] ?? '{}') as { running?: number[] }
        untouched.push(...running.filter((osd) => !touched.has(osd)).map((osd) => `osd.${osd}`))
        return fixture.oracle.started.length >= 12
      },
      3_600,
    )
    await fixture.until(
      'all are back',
      () => fixture.oracle.onTheWay().length === 0 && fixture.holders().length === 0,
      300,
    )
    await fixture.seconds(120)
    const { violations, below, started } = fixture.oracle
    expect({ violations, below, written, untouched, started: [...started].sort() }).toEqual({
      violations: [],
      below: [],
      written: [],
      untouched: [],
      started: allOnce(),
    })
    expect(await fixture.told()).toEqual(['Normal ManagedElsewhere', 'Normal OsdsUpdating', 'Normal OsdsUpToDate'])
  })

  it('a budget of somebody else beside ours, and a lock of an owner, are waited for and named, and the restart ends after them', async () => {
    await openBesideRook('cofferdam')
    const theirs = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { namespace, name: 'team-storage' },
      spec: { maxUnavailable: 1, selector: { matchLabels: { osd: '3' } } },
    }
    await fixture.api.create(podDisruptionBudgets, theirs)
    await ask()
    await fixture.until('all others were restarted', () => fixture.oracle.started.length >= 11, 1_200)
    await fixture.until('the storage is free', () => fixture.holders().length === 0, 300)
    await fixture.seconds(300)
    const before = (await fixture.told()).length
    await fixture.seconds(600)
    expect(fixture.record()?.data?.['blocked']).toContain('poddisruptionbudget/team-storage cover its pod')
    expect({
      held: fixture.osdIds().filter((osd) => !fixture.oracle.started.includes(`${osd} anew`)),
      news: (await fixture.told()).length - before,
    }).toEqual({ held: [3], news: 0 })
    const until = new Date(fixture.clock.now() + 900_000).toISOString()
    const lock = JSON.stringify({ holder: 'alice', reason: 'a backup runs', until })
    await fixture.api.patch(podDisruptionBudgets, budgetKey, {
      type: 'merge',
      body: { metadata: { annotations: { 'cofferdam.io/lock': lock } } },
    })
    await fixture.seconds(10)
    await fixture.api.delete(podDisruptionBudgets, { namespace, name: 'team-storage' })
    await fixture.seconds(300)
    expect(fixture.oracle.started).not.toContain('3 anew')
    expect(fixture.record()?.data?.['blocked']).toContain('alice locked budget rook-ceph/rook-ceph-osd')
    await fixture.until('the last one was restarted', () => fixture.oracle.started.includes('3 anew'), 900)
    await fixture.until(
      'all is over',
      () => fixture.oracle.onTheWay().length === 0 && fixture.holders().length === 0,
      300,
    )
    const { violations, below, started } = fixture.oracle
    expect({ violations, below, started: [...started].sort() }).toEqual({
      violations: [],
      below: [],
      started: allOnce(),
    })
  })
})

describe("beside Rook's own operator", () => {
  it('a restart that is asked for goes in safe rounds by eviction, each OSD once, and no Deployment is written', async () => {
    const written = await openBesideRook()
    fixture.trace.chapter('Another image is wanted: that is for Rook')
    await fixture.want('v19.2.4')
    await fixture.seconds(120)
    expect(fixture.oracle.started).toEqual([])
    fixture.trace.chapter('All OSDs are to be restarted')
    await ask()
    await fixture.until('all were restarted', () => fixture.oracle.started.length >= 12, 1_200)
    await fixture.until(
      'all are back',
      () => fixture.oracle.onTheWay().length === 0 && fixture.holders().length === 0,
      300,
    )
    await fixture.seconds(120)
    expect([...fixture.oracle.started].sort()).toEqual(allOnce())
    const { violations, below } = fixture.oracle
    expect({ violations, below, written }).toEqual({ violations: [], below: [], written: [] })
    await expect(fixture.trace.text()).toMatchFileSnapshot('./osd-update-beside-rook.golden.txt')
  })

  it('a restart and a request for a node never have the storage at the same time, and both end', async () => {
    const written = await openBesideRook()
    await ask()
    await fixture.until('some are on their way', () => fixture.oracle.onTheWay().length > 0, 60)
    await fixture.request('reboot', 'storage-5')
    await fixture.until('the node may reboot', () => fixture.phaseOf('reboot') === 'Drained', 600)
    fixture.world.kubelet.reboot('storage-5', 20)
    await fixture.until('the request is over', () => fixture.phaseOf('reboot') === 'Completed', 400)
    await fixture.until(
      'all is over',
      () => fixture.holders().length === 0 && fixture.oracle.onTheWay().length === 0,
      1_200,
    )
    await fixture.seconds(60)
    expect({ below: fixture.oracle.below, written }).toEqual({ below: [], written: [] })
  })
})
