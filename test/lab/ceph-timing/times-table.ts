import type { ReportTimes } from './report-times.ts'

export interface TimedDeed {
  readonly side: 'real' | 'simulated'
  readonly deed: string
  readonly times: ReportTimes
}

/** One line for each kind of deed: the shortest and the longest of all times. */
export function printTimes(timed: readonly TimedDeed[]): string {
  const kinds = [...new Set(timed.map(({ side, deed }) => `${side}, ${deed}`))]
  const head =
    'an OSD of the | until the map has it | first report | last report | groups not reported while others were'
  const lines = kinds.map((kind) => {
    const own = timed.filter(({ side, deed }) => `${side}, ${deed}` === kind).map(({ times }) => times)
    const columns = [
      span(own.map(({ mapMs }) => mapMs)),
      span(own.map(({ reportMs }) => reportMs[0] ?? 0)),
      span(own.map(({ reportMs }) => reportMs.at(-1) ?? 0)),
      `at most ${Math.max(...own.map(({ mixed }) => mixed))} of ${Math.max(...own.map(({ reportMs }) => reportMs.length))}`,
    ]
    return [kind, ...columns].join(' | ')
  })
  return [head, ...lines].join('\n')
}

function span(times: readonly number[]): string {
  const seconds = (ms: number) => (ms / 1_000).toFixed(1)
  return `${seconds(Math.min(...times))} to ${seconds(Math.max(...times))} s`
}
