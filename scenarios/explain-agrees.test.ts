import { readFileSync } from 'node:fs'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { afterEach, expect, it } from 'vitest'
import { type CephStage, openCephStage } from './testing/ceph-stage.ts'
import { type Agreement, askExplain, compareAnswers } from './testing/explain-agreement.ts'
import { openUpdateStage, type UpdateStage } from './testing/osd-update-stage.ts'

let stage: CephStage | UpdateStage
afterEach(() => stage.close())

const read = (name: string) => readFileSync(new URL(`../examples/clusters/${name}.yaml`, import.meta.url), 'utf8')
const patient = 240_000

/** Compares at every step until it is over, at least so often; tells what did not agree, and the mixtures it saw. */
async function compareWhile(
  goesOn: () => boolean,
  { everySeconds, atLeast }: Record<'everySeconds' | 'atLeast', number>,
) {
  const seen: Agreement[] = []
  while (goesOn() || seen.length < atLeast) {
    seen.push(await compareAnswers(stage))
    await stage.seconds(everySeconds)
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
  'while worker-a1 is drained, nobody is told that an OSD may go which the API server refuses, nor the other way round',
  async () => {
    const opened = await openCephStage(read('default'))
    stage = opened
    opened.startOperator()
    await opened.seconds(15)
    expect((await askExplain(opened, 'osd/rook-ceph/4')).code).toBe(0)
    const drain = opened.drain('worker-a1')
    const during = await compareWhile(() => !drain.isOver(), { everySeconds: 1, atLeast: 8 })
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

    await opened.uncordon('worker-a1')
    const after = await compareWhile(() => false, { everySeconds: 3, atLeast: 20 })
    expect(after.disagreements).toEqual([])
    expect([...during.mixtures, ...after.mixtures]).toContain('some free, some refused')
    expect(opened.oracle.violations).toEqual([])
  },
  patient,
)

it(
  'while OSDs are updated, an OSD whose turn comes is not called free to evict, and the cluster says what holds it',
  async () => {
    const opened = await openUpdateStage({ annotations: { 'cofferdam.io/update-max-in-parallel': '2' } })
    stage = opened
    opened.operate()
    await opened.seconds(60)
    expect(await compareAnswers(opened)).toMatchObject({ disagreements: [], refused: 0 })
    await opened.want('v19.2.4')
    const during = await compareWhile(() => !opened.isUpdated('v19.2.4'), { everySeconds: 2, atLeast: 10 })
    expect(during.disagreements).toEqual([])
    expect([...during.mixtures].filter((mixture) => mixture.endsWith('some refused'))).not.toEqual([])
    expect({ violations: opened.oracle.violations, below: opened.oracle.below }).toEqual({ violations: [], below: [] })
  },
  patient,
)

it.each([1, 2, 3])(
  'whatever befalls nodes and OSDs, explain and the eviction API never contradict each other (seed %i)',
  async (seed) => {
    const opened = await openUpdateStage({ seed, domain: 'zone', storage: 3, osdsPerNode: 2 })
    stage = opened
    opened.operate()
    await opened.seconds(60)
    const random = seededRandom(1_000 + seed)
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random.next() * from.length)] as T
    const nodeNames = ['storage-1', 'storage-2', 'storage-3']
    const deeds = [
      () => opened.cordon(pick(nodeNames)),
      () => Promise.all(nodeNames.map((node) => opened.cordon(node, false))),
      () => opened.killPod(pick(opened.osdIds())),
      async () => void opened.drain(pick(nodeNames)),
      () => opened.request(`reboot-${opened.clock.now()}`, pick(nodeNames)),
      () => opened.want(pick(['v19.2.3', 'v19.2.4', 'v19.2.5'])),
      async () => opened.cephLine.cut(),
      async () => opened.cephLine.mend(),
    ]
    const seen: Agreement[] = []
    for (let step = 0; step < 25; step += 1) {
      await pick(deeds)()
      await opened.seconds(pick([0.5, 2, 10]))
      seen.push(await compareAnswers(opened))
    }
    expect(seen.flatMap(({ disagreements }) => disagreements)).toEqual([])
    // Ceph is silent, and the budgets stay as they are for a moment.
    expect(new Set(['SafetyUnknown', ...seen.flatMap(({ cautions }) => cautions)])).toEqual(new Set(['SafetyUnknown']))
    expect(seen.some(({ free }) => free > 0) && seen.some(({ refused }) => refused > 0)).toBe(true)
  },
  patient,
)
