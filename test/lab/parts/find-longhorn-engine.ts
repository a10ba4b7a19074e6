import { longhornEnginePrograms, longhornEngineVersion, NoCompilerError } from './build-longhorn-engine.ts'
import { isOneChosen } from './chosen-suites.ts'
import { findGoPrograms } from './go-programs.ts'
import type { LonghornEngineParts, Say } from './parts.ts'

export const longhornEngineSuite = 'longhorn-engine.lab.ts'

/** Longhorn's engine; undefined where nothing can compile it, which is said. */
export async function findLonghornEngine(say: Say): Promise<LonghornEngineParts | undefined> {
  try {
    const programs = await findGoPrograms(longhornEnginePrograms, say)
    return { version: longhornEngineVersion, engine: programs['longhorn-engine'], io: programs['longhorn-io'] }
  } catch (error) {
    if (!(error instanceof NoCompilerError)) throw error
    say(`longhorn-engine is skipped: ${error.message}`)
    return undefined
  }
}

export function needsLonghornEngine(chosen: readonly string[]): boolean {
  return isOneChosen(chosen, [longhornEngineSuite])
}
