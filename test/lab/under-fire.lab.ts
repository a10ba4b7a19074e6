import { setTimeout as pause } from 'node:timers/promises'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { disruptionLedgers } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { isRequestOver } from '@cofferdam/product/shared/tool-request.ts'
import { afterAll, expect, it } from 'vitest'
import { startClientLoad } from './ceph/client-load.ts'
import { type DataWatch, watchData } from './fire/data-watch.ts'
import { startDrainLoops } from './fire/drain-loops.ts'
import { type FireStage, fires, putOut } from './fire/fires.ts'
import { type Lab, openLab } from './lab.ts'

/** `COFFERDAM_LAB_MINUTES=60` burns for an hour; `COFFERDAM_LAB_SEED` draws other fires. */
const minutes = Number(process.env['COFFERDAM_LAB_MINUTES'] ?? '6')
const seed = Number(process.env['COFFERDAM_LAB_SEED'] ?? '1')

const racks = new Map([
  ['rack-x', ['node-a', 'node-d']],
  ['rack-y', ['node-b', 'node-e']],
  ['rack-z', ['node-c', 'node-f']],
])
/** Fires overlap: the next is lit this long after the last, whether that one is out or not. */
const leastSeconds = 3
const mostSeconds = 15
/** Longer than the lease of a leader that died. */
const settledMs = 20_000

let lab: Lab
const endings: (() => unknown)[] = []
afterAll(async () => {
  for (const end of endings.reverse()) await end()
  await lab?.close()
})

/** Whether all operators have run for long enough to see what is there, their leader among them, and the API server too. */
function attendance(stageOf: () => FireStage | undefined): () => boolean {
  let disturbedMs = Date.now()
  let before = ''
  const timer = setInterval(() => {
    const stage = stageOf()
    if (stage === undefined) return
    const { frozen } = stage
    const plane = [lab.plane.daemons.apiserver, lab.plane.daemons.etcd]
    const operators = [...lab.operators().values()]
    const isServed = [...plane, ...operators].every((daemon) => daemon.isRunning() && !frozen.has(daemon))
    // The one that went may have led, and another leads only when its lease has ended.
    const present = operators.map(({ pid }) => pid).join()
    if (!isServed || stage.isCutOff() || present !== before) disturbedMs = Date.now()
    before = present
  }, 250)
  endings.push(() => clearInterval(timer))
  return () => Date.now() - disturbedMs >= settledMs
}

it(
  `${minutes} minutes of fires while three tools drain: no group falls by us, no byte is lost or wrong, and all of it ends`,
  async () => {
    let stage: FireStage | undefined
    const isAttended = attendance(() => stage)
    lab = await openLab('under-fire', { hasApiLink: true, isUnattended: () => !isAttended() })
    await lab.installOperator()
    const load = startClientLoad({ ...lab, pools: ['replicapool', 'ecpool'] })
    const data: DataWatch = watchData(lab, [...racks.keys()], isAttended)
    endings.push(() => data.stop())
    const random = seededRandom(seed)
    const over = new AbortController()
    let cuts = 0
    stage = {
      lab,
      data,
      random: random.stream('fires'),
      racks,
      frozen: new Set(),
      signal: over.signal,
      isCutOff: () => cuts > 0,
      async cutOff(act) {
        cuts += 1
        await act()
        cuts -= 1
      },
    }
    endings.push(() => putOut(stage as FireStage))

    lab.chapter(`Fires of seed ${seed}, for ${minutes} minutes`)
    const loops = startDrainLoops({ ...stage, random: random.stream('drains') })
    const lit = new Map<string, number>()
    const burning: Promise<void>[] = []
    const end = performance.now() + minutes * 60_000
    while (performance.now() < end) {
      await lab.seconds(leastSeconds + stage.random.next() * (mostSeconds - leastSeconds))
      const fire = fires[Math.floor(stage.random.next() * fires.length)]
      if (fire === undefined) continue
      lab.journal.tell('fire', fire.name)
      burning.push(
        fire.light(stage).then((what) => {
          if (what !== undefined) lit.set(fire.name, (lit.get(fire.name) ?? 0) + 1)
          lab.journal.tell('fire', `${fire.name}: ${what ?? 'nothing to burn'}`)
        }),
      )
    }
    over.abort()
    await Promise.all(burning)
    putOut(stage)

    lab.chapter('The fires are out')
    const ending = Promise.all(loops.map((loop) => loop.end()))
    let areLoopsOver = false
    void ending.then(() => {
      areLoopsOver = true
    })
    await lab.until('the drains under way are through', () => areLoopsOver, 600)
    await lab.until('all data is whole', () => data.isWhole(), 180)
    await lab.until('the default budget is back', () => lab.osdBudgets().join() === 'rook-ceph-osd', 120)
    await lab.until('noout is gone', async () => (await lab.nooutBuckets()).length === 0, 60)
    await lab.until('no node is cordoned', async () => (await cordoned()).length === 0, 60)
    await lab.until('no request stands', async () => (await standing()).length === 0, 60)
    await lab.until('nothing is held', async () => (await held()).length === 0, 60)
    await pause(2_000)
    const report = await load.stop()

    const count = [...lit.values()].reduce((sum, each) => sum + each, 0)
    console.log(
      [
        `${minutes} minutes, seed ${seed}: ${count} fires`,
        ...[...lit].sort().map(([name, times]) => `  ${String(times).padStart(4)}  ${name}`),
        ...loops.map(
          (loop) => `${loop.name}: ${loop.drained()} nodes drained and back, ${loop.begunAnew()} begun anew`,
        ),
        `${report.writes} writes and ${report.reads} reads with checksums, ${report.faults.length} faults, longest stall ${Math.round(report.longestStallMs)} ms`,
        `${data.accidents.length} placement groups fell by a fire and an eviction that could not know of each other`,
        ...new Set(data.accidents.map((sentence) => `  ${sentence.replace(/^[^:]*: /, '')}`)),
        `${data.violations.length} violations`,
      ].join('\n'),
    )
    expect({ violations: data.violations, faults: report.faults }).toEqual({ violations: [], faults: [] })
    // A lab in which nothing burned or nothing was drained would show nothing.
    expect(count).toBeGreaterThanOrEqual(minutes)
    for (const loop of loops) expect([loop.name, loop.drained() > 0]).toEqual([loop.name, true])
  },
  (minutes + 25) * 60_000,
)

const cordoned = async () =>
  (await lab.api.list(nodes)).items
    .filter(({ spec }) => spec?.unschedulable === true)
    .map(({ metadata }) => metadata.name)
const standing = async () => (await lab.api.list(nodeDisruptions)).items.filter((each) => !isRequestOver(each))
const held = async () => (await lab.api.list(disruptionLedgers)).items.flatMap(({ status }) => status?.entries ?? [])
