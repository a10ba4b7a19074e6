import { RE2JS } from 're2js'
import { known, type Observed, unknown } from '../shared/observed.ts'

/** What counts as healthy unless the CephCluster says otherwise; the same as Rook's. */
const defaultPattern = '^active(\\+(clean|deep|scrubbing|snaptrim|snaptrim_wait))+$'

/** Decides which PG states are healthy. Patterns come from users, so they run in linear time, and are matched anywhere as in Go. */
export function compilePgPattern(pattern: string | undefined): Observed<(state: string) => boolean> {
  const held = compiledPatterns.get(pattern)
  if (held !== undefined) return held
  const compiled = compile(pattern)
  // One pattern per cluster; more than these come only from a spec that is rewritten all the time.
  if (compiledPatterns.size >= mostCompiled) compiledPatterns.clear()
  compiledPatterns.set(pattern, compiled)
  return compiled
}

/** Compiling costs a hundred times what it takes to match, and every snapshot of a cluster needs its pattern. */
const compiledPatterns = new Map<string | undefined, Observed<(state: string) => boolean>>()
const mostCompiled = 32

function compile(pattern: string | undefined): Observed<(state: string) => boolean> {
  try {
    const compiled = RE2JS.compile(pattern ?? defaultPattern)
    return known(rememberStates((state) => compiled.matcher(state).find()))
  } catch (error) {
    return unknown(`${JSON.stringify(pattern)} is no regular expression: ${(error as Error).message}`)
  }
}

/** States are few, and each is asked of thousands of times. */
function rememberStates(isHealthy: (state: string) => boolean): (state: string) => boolean {
  const verdicts = new Map<string, boolean>()
  return (state) => {
    const before = verdicts.get(state)
    if (before !== undefined) return before
    const verdict = isHealthy(state)
    if (verdicts.size >= 1_000) verdicts.clear()
    verdicts.set(state, verdict)
    return verdict
  }
}
