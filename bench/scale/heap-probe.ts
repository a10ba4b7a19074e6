import type { ChildProcess } from 'node:child_process'

/** What was alive in the heap when the engine itself collected all of it, since it was asked before. */
export interface HeapProbe {
  /** The least: a collection is heard of a little later, when there is garbage again. */
  readonly alive: number
  readonly collections: number
}

/**
 * Loaded before the program, and by Node.js in each of its threads too, where it does nothing: they have no channel. It only listens: a collection
 * that it asked for would return memory that the program keeps. It ends with the benchmark.
 */
const program = `
import { constants, PerformanceObserver } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import { isMainThread } from 'node:worker_threads'
if (isMainThread) listen()
function listen() {
let [alive, collections] = [Infinity, 0]
new PerformanceObserver((list) => {
  for (const { detail } of list.getEntries()) {
    if (detail.kind !== constants.NODE_PERFORMANCE_GC_MAJOR) continue
    alive = Math.min(alive, getHeapStatistics().used_heap_size)
    collections += 1
  }
}).observe({ entryTypes: ['gc'] })
process.on('message', () => {
  process.send({ alive, collections })
  alive = Infinity
  collections = 0
})
process.on('disconnect', () => process.exit())
process.channel.unref()
}
`

export const heapProbeFlags = ['--import', `data:text/javascript,${encodeURIComponent(program)}`]

export function askHeap(child: ChildProcess): Promise<HeapProbe> {
  return new Promise((resolve) => {
    child.once('message', (said) => resolve(said as HeapProbe))
    child.send('heap')
  })
}
