import { fileURLToPath } from 'node:url'
import { type GoPrograms, versionOf } from './go-programs.ts'

/** Helm itself, from its Go module. */
export const helmPrograms: GoPrograms<'helm'> = {
  product: 'Helm',
  folder: fileURLToPath(new URL('./helm', import.meta.url)),
  programs: ['helm'],
  packages: { helm: 'helm.sh/helm/v3/cmd/helm' },
  module: 'helm.sh/helm/v3',
  estimate: 'the first time takes 3 to 5 minutes on two cores and about 1 GB of disk; with a warm Go cache seconds',
  gigabytes: 1,
}

export const helmVersion = versionOf(helmPrograms)
