import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { Say } from './parts.ts'
import { runStep, setupLog } from './run-step.ts'

/**
 * Installs packages of this system's own release, and starts no service of theirs.
 * Says which command to run where we may not install.
 */
export async function installPackages(packages: readonly string[], say: Say): Promise<void> {
  const remedy = `apt-get update && apt-get install -y --no-install-recommends ${packages.join(' ')}`
  if (!existsSync('/usr/bin/apt-get')) throw new Error(`the lab needs a Debian system; missing: ${packages.join(', ')}`)
  if (process.getuid?.() !== 0) throw new Error(`missing: ${packages.join(', ')}; as root, run: ${remedy}`)
  const log = setupLog('install-packages')
  await rm(log, { force: true })
  const began = performance.now()
  say(`installing ${packages.join(', ')}, usually for less than a minute; the output goes to ${log}`)
  const environment = { DEBIAN_FRONTEND: 'noninteractive' }
  await runStep({ task: 'reading the lists of packages', command: ['apt-get', '-q', 'update'], log, environment })
  await runStep({
    task: `installing ${packages.join(', ')}`,
    command: withoutServices(['apt-get', '-q', 'install', '-y', '--no-install-recommends', ...packages]),
    log,
    environment,
    diesWithUs: false,
  })
  say(`installed in ${Math.ceil((performance.now() - began) / 1_000)} s`)
}

/** Packages start their services only where they see systemd running; the folder they look for is hidden from them. */
function withoutServices(command: readonly [string, ...string[]]): readonly [string, ...string[]] {
  if (!existsSync('/run/systemd/system')) return command
  const hide = 'mount -t tmpfs none /run/systemd && exec "$@"'
  return ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', hide, 'sh', ...command]
}
