import { readFileSync } from 'node:fs'
import { describeChange, type PlannedMutant } from './mutant.ts'

const page = 'docs/reference/mutants.md'

/** Survivors that are known, as `file` and `change` of the rows of the page: those that change nothing, or nothing that is promised. */
export function readExplained(text: string = readFileSync(page, 'utf8')): ReadonlySet<string> {
  const rows = text.matchAll(/^\| `([^`]+\.ts)` \| `` (.+) `` \| .+ \|$/gm)
  return new Set([...rows].map(([, file, change]) => `${file} ${change?.replaceAll('\\|', '|')}`))
}

export function nameOf(mutant: PlannedMutant): string {
  return `${mutant.file.replace('packages/cofferdam/src/', '')} ${describeChange(mutant)}`
}
