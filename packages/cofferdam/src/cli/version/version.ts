import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import { productVersion } from '../../ledger/store/product-version.ts'
import type { CliCommand } from '../command.ts'
import type { Connect } from '../connect.ts'
import { observeVersions, type Versions } from './version-observe.ts'
import { renderVersions } from './version-text.ts'

interface VersionFlags {
  readonly client?: boolean
  readonly leaseNamespace: string
}

export function createVersionCommand(ports: {
  readonly connect: Connect
  readonly clock: Clock
}): CliCommand<VersionFlags, Versions> {
  return {
    name: 'version',
    summary: 'show the versions of this program, the operator and the CRDs',
    description:
      'Shows the version of this program, of Kubernetes, of the operator that leads, and whether the CustomResourceDefinitions of the cluster are those of this program. Changes nothing.',
    examples: [
      { line: 'cofferdam version', says: 'this program, the cluster, the operator and the CRDs' },
      { line: 'cofferdam version --client', says: 'this program only; no cluster is asked' },
    ],

    configure(command) {
      command
        .option('--client', 'show the version of this program only')
        .option('--lease-namespace <name>', 'where the leader lease is', operatorAccount.namespace)
    },

    async run({ flags, signal }) {
      if (flags.client === true) return { client: productVersion }
      const link = await ports.connect(flags)
      try {
        const { leaseNamespace } = flags
        const cluster = await observeVersions(link, { clock: ports.clock, leaseNamespace, signal })
        return { client: productVersion, cluster }
      } finally {
        await link.close()
      }
    },

    render: renderVersions,
  }
}
