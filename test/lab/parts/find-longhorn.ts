import { join } from 'node:path'
import { askProgram } from './ask-program.ts'
import { longhornPrograms, longhornVersion } from './build-longhorn.ts'
import { isOneChosen } from './chosen-suites.ts'
import { findGoPrograms } from './go-programs.ts'
import type { LonghornParts, Say } from './parts.ts'

/** Suites that run Longhorn's code. Others with its name have a simulated Longhorn alone, and need no Go. */
export const suitesWithLonghorn: readonly string[] = [
  'longhorn-brain.lab.ts',
  'longhorn-engine.lab.ts',
  'longhorn-oracle.lab.ts',
]

/** Programs with Longhorn's own code. */
export async function findLonghorn(say: Say): Promise<LonghornParts> {
  const programs = await findGoPrograms(longhornPrograms, say)
  return {
    version: longhornVersion,
    oracle: programs['longhorn-oracle'],
    brain: programs['longhorn-brain'],
    definitions: join(await moduleFolder(say), 'k8s', 'crds.yaml'),
  }
}

/** Where Go keeps the sources of Longhorn's manager. They may have been cleared away since the programs were built. */
async function moduleFolder(say: Say): Promise<string> {
  const { folder, module } = longhornPrograms
  const ask = () => askProgram(['go', '-C', folder, 'list', '-mod=readonly', '-m', '-f', '{{.Dir}}', module])
  const kept = await ask()
  if (kept !== undefined && kept !== '') return kept
  say(`fetching the sources of Longhorn ${longhornVersion}`)
  await askProgram(['go', '-C', folder, 'mod', 'download', module], { timeoutMs: 600_000 })
  const fetched = await ask()
  if (fetched === undefined || fetched === '') throw new Error(`the Go module ${module} cannot be had`)
  return fetched
}

export function needsLonghorn(chosen: readonly string[]): boolean {
  return isOneChosen(chosen, suitesWithLonghorn)
}
