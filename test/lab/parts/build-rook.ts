import { fileURLToPath } from 'node:url'
import { type GoPrograms, versionOf } from './go-programs.ts'

/** Programs that call Rook's code, from its Go module. */
export const rookPrograms: GoPrograms<'rook-disruption' | 'rook-osd-loop'> = {
  product: 'Rook',
  folder: fileURLToPath(new URL('./rook', import.meta.url)),
  programs: ['rook-disruption', 'rook-osd-loop'],
  module: 'github.com/rook/rook',
  estimate: 'the first time takes 2 to 3 minutes on two cores and about 3 GB of disk; with a warm Go cache seconds',
  gigabytes: 3,
}

export const rookVersion = versionOf(rookPrograms)
