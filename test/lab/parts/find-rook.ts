import { rookPrograms, rookVersion } from './build-rook.ts'
import { isOneChosen } from './chosen-suites.ts'
import { findGoPrograms } from './go-programs.ts'
import { installPackages } from './install-packages.ts'
import { isExecutable } from './is-executable.ts'
import type { RookParts, Say } from './parts.ts'

/** Programs with Rook's own code. Rook talks to Ceph by the command of that name. */
export async function findRook(say: Say): Promise<RookParts> {
  if (!(await isExecutable('/usr/bin/ceph'))) await installPackages(['ceph-common'], say)
  const programs = await findGoPrograms(rookPrograms, say)
  return { version: rookVersion, disruption: programs['rook-disruption'], osdLoop: programs['rook-osd-loop'] }
}

/** Whether suites are chosen that run Rook's code. */
export function needsRook(chosen: readonly string[], suites: readonly string[]): boolean {
  return isOneChosen(
    chosen,
    suites.filter((suite) => suite.startsWith('rook-') || suite === 'uninstall.lab.ts'),
  )
}
