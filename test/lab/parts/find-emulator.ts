import { join } from 'node:path'
import { cacheFolder } from './cache-folder.ts'
import { isExecutable } from './is-executable.ts'
import type { Say } from './parts.ts'
import { unpackDebian } from './unpack-debian.ts'
import { withLock } from './with-lock.ts'

/** Debian's QEMU, which runs programs for arm64 on a machine of another kind. It is unpacked and not installed. */
export async function findEmulator(say: Say): Promise<string> {
  const folder = cacheFolder('qemu-user')
  const emulator = join(folder, 'usr/bin/qemu-aarch64-static')
  const packages = ['qemu-user-static']
  if (!(await isExecutable(emulator))) {
    const waiting = () => say('another process is unpacking QEMU; waiting for it')
    await withLock(`${folder}.lock`, waiting, async () => {
      if (!(await isExecutable(emulator)))
        await unpackDebian({ suite: 'bookworm', packages, folder, isAlone: true, say })
    })
  }
  return emulator
}
