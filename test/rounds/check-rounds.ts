import { availableParallelism } from 'node:os'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { type Comparison, compareStructures, sumOf } from './compare-structures.ts'

const units = 7
const mostThings = 5
const slacks = [1, 2, 3]
const threads = availableParallelism()

interface Part {
  readonly things: number
  readonly skipped: number
}

function compareInThread(part: Part): Promise<Comparison> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: part })
    worker.once('message', resolve)
    worker.once('error', reject)
  })
}

async function check(): Promise<boolean> {
  const all: Comparison[] = []
  console.log(`${units} OSDs; placement groups that can spare ${slacks.join(', ')}; up to the names of both`)
  console.log('  groups  structures   as by force  longer  wrong  bound too high  bound reached   CPU s')
  for (let things = 0; things <= mostThings; things += 1) {
    const before = process.cpuUsage()
    const parts = Array.from({ length: threads }, (_, skipped) => compareInThread({ things, skipped }))
    const told = sumOf(await Promise.all(parts))
    const { user, system } = process.cpuUsage(before)
    const { structures, equal, longer, wrong, boundTooHigh, boundReached } = told
    const numbers = [things, structures, equal, longer, wrong, boundTooHigh, boundReached, (user + system) / 1e6]
    const widths = [8, 12, 14, 8, 7, 16, 15, 8]
    console.log(
      numbers
        .map((number, at) =>
          Math.round(number)
            .toLocaleString('en')
            .padStart(widths[at] ?? 0),
        )
        .join(''),
    )
    for (const example of told.examples) console.log(`  ${example}`)
    all.push(told)
  }
  const { structures, equal, boundTooHigh } = sumOf(all)
  const ofAll = `${equal.toLocaleString('en')} of ${structures.toLocaleString('en')}`
  console.log(`\n${ofAll} plans have as few rounds as there can be`)
  return equal === structures && boundTooHigh === 0
}

if (isMainThread) process.exitCode = (await check()) ? 0 : 1
else {
  const { things, skipped } = workerData as Part
  parentPort?.postMessage(compareStructures({ units, things, slacks }, { stride: threads, skipped }))
}
