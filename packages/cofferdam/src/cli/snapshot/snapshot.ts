import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import type { CliCommand } from '../command.ts'
import type { Connect } from '../connect.ts'
import { kindName, type SavedCluster } from './saved-cluster.ts'
import { takeSnapshot } from './take-snapshot.ts'

export function createSnapshotCommand(ports: {
  readonly connect: Connect
  readonly clock: Clock
}): CliCommand<{ readonly leaseNamespace: string }, SavedCluster> {
  return {
    name: 'snapshot',
    summary: 'save what plans and explanations are made from, without secrets',
    description:
      'Prints everything that a plan is made from as one JSON document: nodes, pods, budgets, locks, limits, what the operator has recorded of Ceph, and Longhorn. Secrets, environments, commands and annotations of other tools are left out. A plan can be made from the file on another machine, later, as of the time it was saved: cofferdam plan drain --from FILE. Changes nothing.',
    examples: [
      { line: 'cofferdam snapshot > cluster.json', says: 'save the cluster as it is now' },
      { line: 'cofferdam plan drain --all --from cluster.json', says: 'plan from the file, without a cluster' },
    ],

    configure(command) {
      command.option('--lease-namespace <name>', 'where the leader lease is', operatorAccount.namespace)
    },

    async run({ flags, terminal, signal }) {
      const link = await ports.connect(flags)
      try {
        const { leaseNamespace } = flags
        const saved = await takeSnapshot({ ...link, clock: ports.clock, leaseNamespace, signal })
        const refused = saved.kinds.filter(({ state }) => state === 'refused')
        for (const kind of refused) {
          terminal.note(
            `${terminal.paint('yellow', 'warning:')} ${kindName(kind)} may not be read and are not in the snapshot`,
          )
        }
        return saved
      } finally {
        await link.close()
      }
    },

    render: (saved) => JSON.stringify(saved),
  }
}
