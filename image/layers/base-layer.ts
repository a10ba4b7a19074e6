import { fetchDebianPackages } from '../parts/debian-packages.ts'
import type { Architecture } from '../parts/platform.ts'
import { type Entry, fileOf, folderOf, linkOf } from '../tar/entry.ts'
import { debianLayer } from './debian-layer.ts'

/** As whom the image runs; a number, so that a kubelet can see that it is not root. */
export const imageUser = 65532

/** What Node.js is linked with. */
export const runtimeLibraries = ['libc6', 'libstdc++6', 'libgcc-s1', 'libatomic1']

export async function baseLayer(architecture: Architecture): Promise<Entry[]> {
  const packages = await fetchDebianPackages('base', runtimeLibraries, architecture)
  return [...skeleton(), ...(await debianLayer(packages))]
}

/** What a C library expects to find. */
export function skeleton(): Entry[] {
  return [
    ...['bin', 'lib', 'lib64', 'sbin'].map((name) => linkOf(name, `usr/${name}`)),
    ...['dev', 'proc', 'sys', 'usr/bin', 'usr/lib', 'usr/lib64', 'usr/sbin'].map((name) => folderOf(name)),
    folderOf('tmp', 0o1777),
    fileOf('etc/group', `root:x:0:\ncofferdam:x:${imageUser}:\n`),
    fileOf('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'),
    fileOf(
      'etc/passwd',
      `root:x:0:0:root:/:/sbin/nologin\ncofferdam:x:${imageUser}:${imageUser}:cofferdam:/tmp:/sbin/nologin\n`,
    ),
  ]
}
