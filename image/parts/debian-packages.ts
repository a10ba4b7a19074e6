import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cachedFolder } from './cache-folder.ts'
import type { Architecture } from './platform.ts'
import { run } from './run.ts'

/** The Debian that libraries come from. */
export const debianSuite = 'trixie'

const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'

/** A package as it lies in the cache. */
export interface DebianPackage {
  readonly name: string
  readonly version: string
  readonly file: string
  /** What dpkg knows of it: scanners read it from the image. */
  readonly control: string
}

/**
 * Packages with all that they depend on, by name. Those of an earlier build are taken again, so that the image stays the same until
 * the cache is emptied; then Debian's newest are.
 */
export async function fetchDebianPackages(
  set: string,
  wanted: readonly string[],
  architecture: Architecture,
): Promise<DebianPackage[]> {
  const folder = await cachedFolder(`debian-${debianSuite}-${set}-${architecture}`, (into) =>
    download(wanted, architecture, into),
  )
  const files = (await readdir(folder)).filter((name) => name.endsWith('.deb')).sort()
  const packages = await Promise.all(
    files.map(async (name) => {
      const file = join(folder, name)
      const control = await run('dpkg-deb', ['--field', file])
      return { name: fieldOf(control, 'Package'), version: fieldOf(control, 'Version'), file, control }
    }),
  )
  return packages.sort((one, other) => (one.name < other.name ? -1 : 1))
}

export function fieldOf(control: string, field: string): string {
  const value = new RegExp(`^${field}: (.+)$`, 'm').exec(control)?.[1]
  if (value === undefined) throw new Error(`a Debian package has no field ${field}`)
  return value
}

/** apt works in a folder of its own: neither its sources nor its lists on this system change, and nothing is installed. */
async function download(wanted: readonly string[], architecture: Architecture, into: string): Promise<void> {
  const work = join(into, 'apt')
  for (const folder of ['state/lists/partial', 'cache/archives/partial'])
    await mkdir(join(work, folder), { recursive: true })
  await writeFile(join(work, 'status'), '')
  await writeFile(join(work, 'sources.list'), sourcesFor(await knownMirrors()))
  const settings = {
    'Dir::Etc::SourceList': join(work, 'sources.list'),
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::State': join(work, 'state'),
    'Dir::State::status': join(work, 'status'),
    'Dir::Cache': join(work, 'cache'),
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'APT::Sandbox::User': 'root',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '2',
  }
  const options = ['-q', ...Object.entries(settings).flatMap(([key, value]) => ['-o', `${key}=${value}`])]
  await run('apt-get', [...options, 'update'])
  await run('apt-get', [...options, 'install', '-y', '--no-install-recommends', '--download-only', ...wanted])
  const archives = join(work, 'cache/archives')
  for (const name of await readdir(archives)) {
    if (name.endsWith('.deb')) await rename(join(archives, name), join(into, name))
  }
  await rm(work, { recursive: true })
}

async function knownMirrors(): Promise<readonly string[]> {
  // Without its lists too, as in the images of builders.
  const answer = await run('apt-get', ['indextargets', '--no-release-info', '--format', '$(REPO_URI)'])
  return [...new Set(answer.split('\n'))]
}

/** The sources of our suite on the mirrors that this system uses, Debian's security updates among them. */
export function sourcesFor(mirrors: readonly string[]): string {
  const main = mirrors.find((uri) => /\/debian\/?$/.test(uri))
  if (main === undefined) throw new Error('apt names no mirror of Debian here; the image needs its packages')
  const security = mirrors.find((uri) => /\/debian-security\/?$/.test(uri))
  const line = (uri: string, suite: string) => `deb [signed-by=${keyring}] ${uri} ${suite} main\n`
  return line(main, debianSuite) + (security === undefined ? '' : line(security, `${debianSuite}-security`))
}
