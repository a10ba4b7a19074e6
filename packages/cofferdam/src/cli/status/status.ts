import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import { capabilities, type OperatorCapability, shownOf } from '../../operator/capabilities.ts'
import type { CliCommand } from '../command.ts'
import type { Connect } from '../connect.ts'
import { addScopeFlag, askedNamespace, type ScopeFlags } from '../namespace-scope.ts'
import {
  addFromFlag,
  asOfText,
  type FromFlags,
  type FromSaved,
  openLiveOrSaved,
} from '../snapshot/open-live-or-saved.ts'
import { addWatchFlag, type WatchFlags, watchResult } from '../watch-result.ts'
import { observeStatus, type Status } from './status-observe.ts'
import { renderStatus } from './status-text.ts'

interface StatusFlags extends WatchFlags, ScopeFlags, FromFlags {
  readonly leaseNamespace: string
}

export function createStatusCommand(ports: {
  readonly connect: Connect
  readonly clock: Clock
  /** Default: everything. */
  readonly capabilities?: readonly OperatorCapability[]
}): CliCommand<StatusFlags, (Status & FromSaved) | undefined> {
  const list = shownOf(ports.capabilities ?? capabilities)
  return {
    name: 'status',
    summary: 'show nodes, budgets, drains, locks, storage and what is blocked',
    description:
      'One screen: first what is blocked and why, then the operator, nodes that are cordoned or draining, budgets that allow no eviction and why, requests for nodes and what they wait for, locks and who holds them, what was decided about each Ceph cluster, how far updates of OSDs are, how Longhorn is, which machines may be fenced, and the latest warnings. Changes nothing.',
    examples: [
      { line: 'cofferdam status', says: 'the whole cluster on one screen' },
      { line: 'cofferdam status -n shop', says: 'budgets, pods and warnings of one namespace only' },
      { line: 'cofferdam status -w', says: 'again whenever something changes' },
      { line: 'cofferdam status --from cluster.json', says: 'as it was when the snapshot was taken' },
      { line: 'cofferdam status -o wide', says: 'with lines as long as they are' },
      { line: 'cofferdam status -o json', says: 'the same as data' },
    ],

    configure(command) {
      addFromFlag(addScopeFlag(addWatchFlag(command))).option(
        '--lease-namespace <name>',
        'where the leader lease is',
        operatorAccount.namespace,
      )
    },

    async run(invocation) {
      const { flags, signal } = invocation
      const namespace = askedNamespace(flags)
      if (flags.watch === true && flags.from !== undefined) {
        throw new CofferdamError('USAGE', '--from reads what was saved once: it does not go with --watch')
      }
      const { link, clock, saved } = await openLiveOrSaved(flags, ports)
      try {
        await link.serverVersion?.(signal)
        const { api, server } = link
        const { leaseNamespace } = flags
        const observe = async () => ({
          ...(await observeStatus({ api, clock, server, namespace, leaseNamespace, list, signal })),
          ...saved,
        })
        return flags.watch === true ? await watchResult(invocation, { clock, observe }) : await observe()
      } finally {
        await link.close()
      }
    },

    render: (status, paint, isWide) =>
      status === undefined ? '' : `${asOfText(status)}${renderStatus(status, { list, paint, isWide })}`,
  }
}
