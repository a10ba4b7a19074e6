import { readFileSync, writeFileSync } from 'node:fs'

/** As Linux counts CPU time of processes. */
const ticksPerSecond = 100

export interface Measured {
  readonly pid?: number | undefined
}

export function memoryOf({ pid }: Measured): { readonly resident: number; readonly most: number } {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  const of = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(text)?.[1] ?? 0) * 1024
  return { resident: of('VmRSS'), most: of('VmHWM') }
}

/** What was the most until now does not count any more. */
export function forgetMost({ pid }: Measured): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

export function cpuSecondsOf({ pid }: Measured): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

const mebibyte = 1024 * 1024

export function sizeText(bytes: number): string {
  return bytes >= mebibyte ? `${(bytes / mebibyte).toFixed(0)} MiB` : `${(bytes / 1024).toFixed(0)} KiB`
}
