import { readFileSync } from 'node:fs'
import { afterEach, expect, it } from 'vitest'
import { askExplain, askPage } from './testing/ask-commands.ts'
import { type CephFixture, openCephFixture } from './testing/ceph-fixture.ts'
import { type Agreement, compareAnswers, compareBudgets } from './testing/explain-agreement.ts'
import { openUpdateFixture, type UpdateFixture } from './testing/osd-update-fixture.ts'

let fixture: CephFixture | UpdateFixture
afterEach(() => fixture.close())

const read = (name: string) => readFileSync(new URL(`../examples/clusters/${name}.yaml`, import.meta.url), 'utf8')
const patient = 240_000

/** Compares at every step until it is over, at least so often; tells what did not agree, and the mixtures it saw. */
async function compareWhile(
  goesOn: () => boolean,
  { everySeconds, atLeast }: Record<'everySeconds' | 'atLeast', number>,
) {
  const seen: Agreement[] = []
  while (goesOn() || seen.length < atLeast) {
    seen.push(await compareAnswers(fixture))
    await fixture.seconds(everySeconds)
    if (seen.length > 400) throw new Error('it is never over')
  }
  return {
    disagreements: seen.flatMap(({ disagreements, cautions }) => [...disagreements, ...cautions]),
    mixtures: new Set(
      seen.map(({ free, refused }) => `${free > 0 ? 'some' : 'none'} free, ${refused > 0 ? 'some' : 'none'} refused`),
    ),
  }
}

it(
  'while worker-a1 is drained, nobody is told that an OSD may go which the API server refuses, nor the other way round, nor on the page that a budget never allows a disruption which only waits',
  async () => {
    const opened = await openCephFixture(read('default'))
    fixture = opened
    opened.startOperator()
    await opened.seconds(15)
    expect((await askExplain(opened, 'osd/rook-ceph/4')).code).toBe(0)
    const drain = opened.drain('worker-a1')
    const during = await compareWhile(() => !drain.isOver(), { everySeconds: 3, atLeast: 6 })
    await drain.ended
    expect(during.disagreements).toEqual([])

    const { code, answer } = await askExplain(opened, 'osd/rook-ceph/4')
    expect({ code, mayGo: answer.mayGo, update: answer.kind === 'osd' && answer.osdUpdate.state }).toEqual({
      code: 3,
      mayGo: false,
      update: 'done',
    })
    expect(answer.blockers).toEqual([
      expect.objectContaining({
        holder: 'cephcluster/rook-ceph/rook-ceph',
        unblocks: expect.stringContaining('zone a back with all its OSDs, and the placement groups clean'),
      }),
    ])

    // The page said "Blocked: never allows a disruption" of what waits for zone a, and had no word on Ceph.
    expect(await compareBudgets(opened)).toEqual([])
    const page = await askPage(opened)
    expect(page.budgets.get('rook-ceph/rook-ceph-osd-zone-b')?.says).toMatch(/^Blocked: zone b waits until a is back/)
    expect(page.panels.get('storage')?.groups.flat().join()).toContain('zone b, c: may not be drained now')

    await opened.uncordon('worker-a1')
    const after = await compareWhile(() => false, { everySeconds: 6, atLeast: 10 })
    expect(after.disagreements).toEqual([])
    expect([...during.mixtures, ...after.mixtures]).toContain('some free, some refused')
    expect(opened.oracle.violations).toEqual([])
  },
  patient,
)

it(
  'while OSDs are updated, an OSD whose turn comes is not called free to evict, and the cluster says what holds it',
  async () => {
    const opened = await openUpdateFixture({ annotations: { 'cofferdam.io/update-max-in-parallel': '2' } })
    fixture = opened
    opened.operate()
    await opened.seconds(60)
    expect(await compareAnswers(opened)).toMatchObject({ disagreements: [], refused: 0 })
    await opened.want('v19.2.4')
    const during = await compareWhile(() => !opened.isUpdated('v19.2.4'), { everySeconds: 14, atLeast: 6 })
    expect(during.disagreements).toEqual([])
    expect([...during.mixtures].filter((mixture) => mixture.endsWith('some refused'))).not.toEqual([])
    expect({ violations: opened.oracle.violations, below: opened.oracle.below }).toEqual({ violations: [], below: [] })
  },
  patient,
)
