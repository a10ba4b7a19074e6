import { readFileSync } from 'node:fs'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { afterEach, expect, it } from 'vitest'
import { type CephFixture, openCephFixture } from './testing/ceph-fixture.ts'
import { type Agreement, compareAnswers, compareBudgets } from './testing/explain-agreement.ts'
import { openUpdateFixture, type UpdateFixture } from './testing/osd-update-fixture.ts'

let fixture: CephFixture | UpdateFixture
afterEach(() => fixture.close())

const cluster = readFileSync(new URL('../examples/clusters/default.yaml', import.meta.url), 'utf8')

it.each([1, 2, 3])(
  'two drains at once, given up in the middle: explain, the page and the eviction API say the same throughout (seed %i)',
  async (seed) => {
    const opened = await openCephFixture(cluster, { seed })
    fixture = opened
    opened.startOperator()
    await opened.seconds(15)
    const drains = [opened.drain('worker-a1'), opened.drain('worker-b1')]
    const seen: Agreement[] = []
    const ofBudgets: string[] = []
    const compareFor = async (steps: number, everySeconds: number) => {
      for (let step = 0; step < steps; step += 1) {
        seen.push(await compareAnswers(opened))
        ofBudgets.push(...(await compareBudgets(opened)))
        await opened.seconds(everySeconds)
      }
    }
    await compareFor(25, 1)
    expect(drains.filter((drain) => drain.isOver())).toHaveLength(1)
    for (const node of ['worker-a1', 'worker-b1']) await opened.uncordon(node)
    await compareFor(10, 3)
    expect([...seen.flatMap(({ disagreements }) => disagreements), ...ofBudgets]).toEqual([])
    expect(seen.some(({ free }) => free > 0) && seen.some(({ refused }) => refused > 0)).toBe(true)
    expect(opened.oracle.violations).toEqual([])
  },
)

it.each([1, 2, 3])(
  'whatever befalls nodes and OSDs, explain and the eviction API never contradict each other (seed %i)',
  async (seed) => {
    const opened = await openUpdateFixture({ seed, domain: 'zone', storage: 3, osdsPerNode: 2 })
    fixture = opened
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
)
