import { spawnSync } from 'node:child_process'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { expect, it } from 'vitest'
import { heapGrowth, heapGrowthFlag, limitHeapGrowth } from './heap-growth.ts'

/** Keeps much, then makes garbage that lives for a while; says how large the heap was at most, as a multiple of what is alive. */
const program = `
const v8 = require('node:v8')
v8.setFlagsFromString(process.argv[1])
const kept = Array.from({ length: 150_000 }, (_, at) => ({ at, text: 'text of ' + at, list: [at] }))
let [most, held] = [0, []]
for (let at = 0; at < 1_200_000; at += 1) {
  held.push({ at, list: [at, at] })
  if (held.length < 50_000) continue
  held = []
  most = Math.max(most, v8.getHeapStatistics().used_heap_size)
}
gc()
console.log(most / v8.getHeapStatistics().used_heap_size, kept.length)
`

function heapOverAlive(flag: string): number {
  const flags = ['--expose-gc', '--max-semi-space-size=2', '-e', program, '--', flag]
  const { stdout, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8' })
  expect(stderr).toBe('')
  return Number.parseFloat(stdout)
}

it('keeps the heap smaller in a process that runs, in this version of the engine too: its memory would pass the limit of its container', () => {
  const { reading } = heapGrowth
  expect(heapOverAlive(heapGrowthFlag(reading))).toBeLessThan(0.9 * heapOverAlive(heapGrowthFlag(0)))
})

it('gives more room to an operator that reads than to one that has read, or its start would take twice the CPU', async () => {
  const clock = new VirtualClock()
  const flags: string[] = []
  let hasRead = false
  const end = limitHeapGrowth(
    clock,
    () => hasRead,
    (flag) => void flags.push(flag),
  )
  await clock.advance(60_000)
  hasRead = true
  await clock.advance(60_000)
  hasRead = false
  await clock.advance(60_000)
  end()
  expect(clock.nextAt()).toBeUndefined()
  const { reading, afterwards } = heapGrowth
  expect(flags).toEqual([reading, afterwards, reading].map(heapGrowthFlag))
})
