import { buildRook, type RookProgram, rookPrograms, rookVersion, sourcesOf } from './build-rook.ts'
import { cacheFolder } from './cache-folder.ts'
import { locate } from './find-kubernetes.ts'
import { installPackages } from './install-packages.ts'
import { isExecutable } from './is-executable.ts'
import type { RookParts, Say } from './parts.ts'
import { withLock } from './with-lock.ts'

/** Programs with Rook's own code: those kept from an earlier run, else built now. Rook talks to Ceph by the command of that name. */
export async function findRook(say: Say): Promise<RookParts> {
  if (!(await isExecutable('/usr/bin/ceph'))) await installPackages(['ceph-common'], say)
  const folder = cacheFolder(`rook-${rookVersion}-${sourcesOf()}`)
  const missing = async () => {
    const found = await locate(rookPrograms, [folder])
    return rookPrograms.filter((program) => !found.has(program))
  }
  if ((await missing()).length > 0) {
    await withLock(
      `${folder}.lock`,
      () => say('another process is building Rook; waiting for it'),
      async () => {
        const wanted = await missing()
        if (wanted.length > 0) await buildRook(wanted, folder, say)
      },
    )
  }
  const found = await locate(rookPrograms, [folder])
  const path = (program: RookProgram): string => {
    const place = found.get(program)
    if (place === undefined) throw new Error(`${program} was built and is not in ${folder}`)
    return place
  }
  return { version: rookVersion, disruption: path('rook-disruption'), osdLoop: path('rook-osd-loop') }
}

/** Whether suites are chosen that run Rook's code: none are named, or one of them is. */
export function needsRook(chosen: readonly string[], suites: readonly string[]): boolean {
  const withRook = suites.filter((suite) => suite.startsWith('rook-'))
  return withRook.some((suite) => chosen.length === 0 || chosen.some((word) => `test/lab/${suite}`.includes(word)))
}
