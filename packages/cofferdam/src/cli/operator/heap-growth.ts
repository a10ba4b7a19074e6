import { setFlagsFromString } from 'node:v8'

/**
 * How much more than what is alive the engine may have before it collects. Left to itself it lets garbage double what is alive, and more
 * while objects come as fast as at the start. Unlike other limits this one can be set in a process that runs.
 */
export const heapGrowthFlag = '--heap-growing-percent=20'

/** For a process that lives long with much to remember. */
export function limitHeapGrowth(): void {
  setFlagsFromString(heapGrowthFlag)
}
