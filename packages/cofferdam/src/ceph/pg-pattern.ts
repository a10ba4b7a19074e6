import { RE2JS } from 're2js'
import { known, type Observed, unknown } from '../shared/observed.ts'

/** What counts as healthy unless the CephCluster says otherwise; the same as Rook's. */
const defaultPattern = '^active(\\+(clean|deep|scrubbing|snaptrim|snaptrim_wait))+$'

/** Tells which PG states are healthy. Patterns come from users, so they run in linear time, and are matched anywhere as in Go. */
export function compilePgPattern(pattern: string | undefined): Observed<(state: string) => boolean> {
  try {
    const compiled = RE2JS.compile(pattern ?? defaultPattern)
    return known((state) => compiled.matcher(state).find())
  } catch (error) {
    return unknown(`${JSON.stringify(pattern)} is no regular expression: ${(error as Error).message}`)
  }
}
