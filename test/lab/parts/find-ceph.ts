import { join } from 'node:path'
import { withFolderAt } from '../processes/with-folder-at.ts'
import { askProgram } from './ask-program.ts'
import { cacheFolder } from './cache-folder.ts'
import { installPackages } from './install-packages.ts'
import { isExecutable } from './is-executable.ts'
import type { CephParts, CephRelease, Say } from './parts.ts'
import { unpackDebian } from './unpack-debian.ts'
import { withLock } from './with-lock.ts'

const daemons = ['ceph-mon', 'ceph-mgr', 'ceph-osd'] as const
const managerModules = '/usr/share/ceph/mgr'

/** The Debian that has a release which is not the system's own. */
const suites: Readonly<Record<Exclude<CephRelease, '16'>, string>> = { '18': 'trixie', '20': 'forky' }

/**
 * Programs of a real Ceph. Release 16 is the system's own, as Debian 12 has it. The others are unpacked, beside the system,
 * from the Debian that has them. The client is always the system's python3-rados.
 */
export async function findCeph(release: CephRelease, say: Say): Promise<CephParts> {
  return release === '16' ? findInstalledCeph(say) : findUnpackedCeph(release, say)
}

async function findInstalledCeph(say: Say): Promise<CephParts> {
  const missing = [...(await missingDaemons('')), ...(await missingClient())]
  if (missing.length > 0) {
    const candidate = /Candidate: (\S+)/.exec((await askProgram(['apt-cache', 'policy', 'ceph-osd'])) ?? '')?.[1]
    if (candidate !== undefined && /^\d/.test(candidate)) requireRelease('16', candidate, "this system's own packages")
    await installPackages(missing, say)
  }
  const command: CephParts['command'] = (program, ...args) => [`/usr/bin/${program}`, ...args]
  const version = await versionOf(command)
  requireRelease('16', version, 'this system')
  return { release: '16', version, command, managerModules }
}

async function findUnpackedCeph(release: keyof typeof suites, say: Say): Promise<CephParts> {
  const client = await missingClient()
  if (client.length > 0) await installPackages(client, say)
  const suite = suites[release]
  const root = cacheFolder(`ceph-${release}`)
  if ((await missingDaemons(root)).length > 0) {
    const waiting = () => say(`another process is unpacking Ceph ${release}; waiting for it`)
    await withLock(`${root}.lock`, waiting, async () => {
      if ((await missingDaemons(root)).length > 0) await unpackDebian({ suite, packages: daemons, folder: root, say })
    })
  }
  const command: CephParts['command'] = (program, ...args) => enterRoot(root, `/usr/bin/${program}`, ...args)
  const version = await versionOf(command)
  requireRelease(release, version, `Debian ${suite} (unpacked in ${root})`)
  return { release, version, command, managerModules: join(root, managerModules) }
}

/**
 * How a program is called with an unpacked root's /usr in place of the system's. Everything else, such as /dev, /proc and
 * the folders of a lab, is the system's own under its own name.
 *
 * Guarantees: those of withFolderAt. Assumes: /bin, /lib and the like are links into /usr, as they are in Debian 12 and later.
 */
export function enterRoot(root: string, ...command: readonly [string, ...string[]]): readonly [string, ...string[]] {
  return withFolderAt({ folder: join(root, 'usr'), at: '/usr' }, ...command)
}

/** `16.2.15` of `ceph version 16.2.15 (618f44…) pacific (stable)`. */
export function parseCephVersion(answer: string): string | undefined {
  return /^ceph version (\d+\.\d+\.\d+)/m.exec(answer)?.[1]
}

async function versionOf(command: CephParts['command']): Promise<string> {
  const versions = new Set(
    await Promise.all(
      daemons.map(async (program) => {
        const call = command(program, '--version')
        const version = parseCephVersion((await askProgram(call)) ?? '')
        if (version === undefined) throw new Error(`${program} does not run here; try: ${call.join(' ')}`)
        return version
      }),
    ),
  )
  const [version] = versions
  if (version === undefined || versions.size > 1) {
    throw new Error(`${daemons.join(', ')} are of different versions: ${[...versions].join(', ')}`)
  }
  return version
}

/** Guarantees: a release is never taken for another; what Debian calls by one name moves on with time. */
export function requireRelease(release: CephRelease, version: string, place: string): void {
  const major = version.split('.')[0]
  if (major === release) return
  throw new Error(`Ceph ${release} was asked for, and ${place} has ${version}`)
}

async function missingDaemons(root: string): Promise<readonly string[]> {
  const present = await Promise.all(daemons.map((program) => isExecutable(join(root, '/usr/bin', program))))
  return daemons.filter((_, index) => !present[index])
}

/** The interpreter is named in full: a python3 that comes first in PATH need not be the one Debian's packages are for. */
async function missingClient(): Promise<readonly string[]> {
  return (await askProgram(['/usr/bin/python3', '-c', 'import rados'])) === undefined ? ['python3-rados'] : []
}
