import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { CrashPoint } from '../testing/staged-operators.ts'
import { crashScenarios } from './all-scenarios.ts'
import { faultsOfReference, faultsOfRun, parsePoint, pointsOf, pointText } from './judge-run.ts'
import { serveRuns } from './worker.ts'
import { openWorkers } from './worker-pool.ts'

const shownFaults = 12

if (process.env['CRASH_WORKER'] === '1') serveRuns()
else process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  const [first = ''] = args
  if (first.includes('@')) return replay(first)
  const every = Number(args.find((arg) => arg.startsWith('--every='))?.slice('--every='.length) ?? 1)
  const asked = args.filter((arg) => !arg.startsWith('--every='))
  const usage = `usage: crash-points [--every=N] [SCENARIO… | SCENARIO@WRITE/before|unheard|heard/fresh|stale], with ${Object.keys(crashScenarios).join(', ')}`
  if (first === '--help') {
    console.log(usage)
    return 0
  }
  const unknown = asked.filter((name) => crashScenarios[name] === undefined)
  if (unknown.length > 0 || !Number.isInteger(every) || every < 1) {
    console.error(`${unknown.length > 0 ? `there is no scenario ${unknown.join(', ')}; ` : ''}${usage}`)
    return 2
  }
  return tryAll(asked.length === 0 ? Object.keys(crashScenarios) : asked, every)
}

/** `drain-one@17/unheard/stale`: one run, with all that is wrong with it. */
async function replay(text: string): Promise<number> {
  const [name = '', pointed = ''] = text.split('@')
  const [scenario, point] = [crashScenarios[name], parsePoint(pointed)]
  if (scenario === undefined || point === undefined) {
    console.error(`${text} names no run: SCENARIO@WRITE/before|unheard|heard/fresh|stale`)
    return 2
  }
  const reference = await scenario.run()
  const run = await scenario.run(point)
  const faults = faultsOfRun(reference, run, point)
  console.log(`${text}: dies at ${reference.written[point.write - 1] ?? 'no write'}`)
  for (const fault of faults) console.log(`  ${fault}`)
  console.log(faults.length === 0 ? 'the same end, and no harm' : `${faults.length} faults`)
  return faults.length === 0 ? 0 : 1
}

async function tryAll(names: readonly string[], every: number): Promise<number> {
  const workers = openWorkers(fileURLToPath(import.meta.url), availableParallelism())
  const began = performance.now()
  let [cpu, good, all] = [0, 0, 0]
  console.log(
    `${'scenario'.padEnd(28)}${'writes'.padStart(7)}${'runs'.padStart(7)}${'CPU s'.padStart(8)}  the same end`,
  )
  try {
    const rows = names.map((name) => ({ name, row: tryScenario(name) }))
    for (const { name, row } of rows) {
      const { writes, runs, failed, faults, cpuSeconds } = await row
      cpu += cpuSeconds
      all += runs
      good += runs - failed
      const cells = [String(writes).padStart(7), String(runs).padStart(7), cpuSeconds.toFixed(0).padStart(8)]
      console.log(`${name.padEnd(28)}${cells.join('')}  ${runs - failed} of ${runs}`)
      for (const fault of faults.slice(0, shownFaults)) console.log(fault)
      if (faults.length > shownFaults) console.log(`    and ${faults.length - shownFaults} more`)
    }
  } finally {
    workers.stop()
  }
  console.log(
    `\n${names.length} scenarios, ${((performance.now() - began) / 1000).toFixed(0)} s, ${cpu.toFixed(0)} s of CPU`,
  )
  console.log(`${good} of ${all}`)
  return good === all ? 0 : 1

  async function tryScenario(name: string) {
    const reference = await workers.run({ scenario: name })
    const wrong = faultsOfReference(reference)
    if (wrong.length > 0)
      return { writes: 0, runs: 1, failed: 1, faults: wrong.map(indented), cpuSeconds: reference.cpuSeconds }
    const points = pointsOf(reference).filter((_, index) => index % every === 0)
    const tried = await Promise.all(
      points.map(async (point) => {
        const run = await workers.run({ scenario: name, point })
        return { point, faults: faultsOfRun(reference, run, point), cpuSeconds: run.cpuSeconds }
      }),
    )
    return {
      writes: reference.written.length,
      runs: points.length,
      cpuSeconds: tried.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, reference.cpuSeconds),
      failed: tried.filter(({ faults }) => faults.length > 0).length,
      faults: groupFaults(name, tried),
    }
  }
}

/** Each fault once, with the number of runs that have it and the command for the first of them. */
function groupFaults(
  name: string,
  tried: readonly { readonly point: CrashPoint; readonly faults: readonly string[] }[],
): string[] {
  const runsOf = new Map<string, CrashPoint[]>()
  for (const { point, faults } of tried) {
    for (const fault of faults) runsOf.set(fault, [...(runsOf.get(fault) ?? []), point])
  }
  return [...runsOf].map(([fault, points]) => {
    const first = `npm run crash-points -- ${name}@${pointText(points[0] as CrashPoint)}`
    return `${indented(fault)}\n    in ${points.length} runs: ${first}`
  })
}

function indented(fault: string): string {
  return `    ${fault.slice(0, 700)}`
}
