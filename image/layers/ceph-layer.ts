import { fetchDebianPackages } from '../parts/debian-packages.ts'
import type { Architecture } from '../parts/platform.ts'
import type { Entry } from '../tar/entry.ts'
import { runtimeLibraries } from './base-layer.ts'
import { debianLayer } from './debian-layer.ts'

/** What the packages of the client need to be configured, and nothing needs to run. */
const installers = new Set([
  'adduser',
  'base-passwd',
  'debconf',
  'dpkg',
  'libaudit-common',
  'libpam-modules',
  'libpam-modules-bin',
  'libsemanage-common',
  'login.defs',
  'media-types',
  'netbase',
  'passwd',
  'readline-common',
  'tar',
  'tzdata',
])

/** Ceph's client for the helper that keeps a connection open: Python and librados. */
export async function cephLayer(architecture: Architecture): Promise<Entry[]> {
  const base = await fetchDebianPackages('base', runtimeLibraries, architecture)
  const below = new Set(base.map(({ name }) => name))
  const packages = await fetchDebianPackages('ceph', ['python3-rados'], architecture)
  return debianLayer(packages.filter(({ name }) => !below.has(name) && !installers.has(name)))
}
