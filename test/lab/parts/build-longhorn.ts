import { fileURLToPath } from 'node:url'
import { type GoPrograms, versionOf } from './go-programs.ts'

/** Programs that call Longhorn's code, from the Go module of its manager. */
export const longhornPrograms: GoPrograms<'longhorn-oracle' | 'longhorn-brain'> = {
  product: 'Longhorn',
  folder: fileURLToPath(new URL('./longhorn', import.meta.url)),
  programs: ['longhorn-oracle', 'longhorn-brain'],
  module: 'github.com/longhorn/longhorn-manager',
  estimate: 'the first time takes 5 to 11 minutes on two cores and about 4 GB of disk; with a warm Go cache seconds',
  gigabytes: 4,
}

export const longhornVersion = versionOf(longhornPrograms)
