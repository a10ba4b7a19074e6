import { setFlagsFromString } from 'node:v8'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'

/**
 * How much more than what is alive the engine may have before it collects, in percent. Left to itself it lets garbage double what is alive,
 * and more while objects come as fast as at the start. Less room is paid for with CPU: most of it is saved where little comes, after the start.
 */
export const heapGrowth = { reading: 20, afterwards: 8 } as const

const lookMs = 10_000

/** Unlike other limits this one can be set in a process that runs. */
export function heapGrowthFlag(percent: number): string {
  return `--heap-growing-percent=${percent}`
}

/** For a process that lives long with much to remember; returns what ends it. A standby has read little: it begins when it leads. */
export function limitHeapGrowth(clock: Clock, hasRead: () => boolean, setFlag = setFlagsFromString): () => void {
  let percent: number | undefined
  let cancel = () => {}
  const look = () => {
    const wanted = hasRead() ? heapGrowth.afterwards : heapGrowth.reading
    if (wanted !== percent) setFlag(heapGrowthFlag(wanted))
    percent = wanted
    cancel = clock.after(lookMs, look)
  }
  look()
  return () => cancel()
}
