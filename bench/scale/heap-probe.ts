import type { ChildProcess } from 'node:child_process'

/** What was alive in the heap when the engine itself last collected all of it. */
export interface HeapProbe {
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
const probe = { alive: 0, collections: 0 }
new PerformanceObserver((list) => {
  for (const { detail } of list.getEntries()) {
    if (detail.kind !== constants.NODE_PERFORMANCE_GC_MAJOR) continue
    probe.alive = getHeapStatistics().used_heap_size
    probe.collections += 1
  }
}).observe({ entryTypes: ['gc'] })
process.on('message', () => process.send(probe))
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
