import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const folder = 'node_modules/.mutants'
const file = join(folder, 'outcomes.ndjson')

interface Outcomes {
  isAlive(id: number): boolean
  passed(ids: readonly number[]): void
  killed(id: number, by: string): void
  skipped(test: string): void
}

/** Both workers append to one file, and read there what the other one has killed. */
export function openOutcomes(): Outcomes {
  const passed = new Set<number>()
  const killed = new Set<number>()
  let read = 0
  const append = (line: object) => appendFileSync(file, `${JSON.stringify(line)}\n`)
  return {
    isAlive: (id) => !killed.has(id),
    passed(ids) {
      const fresh = ids.filter((id) => !passed.has(id))
      for (const id of fresh) passed.add(id)
      if (fresh.length > 0) append({ passed: fresh })
      const text = readFileSync(file, 'utf8').slice(read)
      for (const id of readOutcomes(text).killed.keys()) killed.add(id)
      read += text.lastIndexOf('\n') + 1
    },
    killed(id, by) {
      killed.add(id)
      append({ killed: id, by })
    },
    skipped: (test) => append({ skipped: test }),
  }
}

export function clearOutcomes(): void {
  writeFileSync(file, '')
}

export interface ReadOutcomes {
  readonly killed: ReadonlyMap<number, string>
  readonly passed: ReadonlySet<number>
  readonly skipped: ReadonlySet<string>
}

export function readOutcomes(text: string = readFileSync(file, 'utf8')): ReadOutcomes {
  const killed = new Map<number, string>()
  const passed = new Set<number>()
  const skipped = new Set<string>()
  for (const line of text.split('\n').slice(0, -1)) {
    const outcome = JSON.parse(line) as { killed?: number; by?: string; passed?: number[]; skipped?: string }
    if (outcome.killed !== undefined) killed.set(outcome.killed, outcome.by ?? '')
    for (const id of outcome.passed ?? []) passed.add(id)
    if (outcome.skipped !== undefined) skipped.add(outcome.skipped)
  }
  return { killed, passed, skipped }
}
