import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import { openReader } from '../../observe/reader.ts'
import { capabilities, type OperatorCapability, shownOf } from '../../operator/capabilities.ts'
import { type CliCommand, exitCodes } from '../command.ts'
import type { Connect } from '../connect.ts'
import {
  addFromFlag,
  asOfText,
  type FromFlags,
  type FromSaved,
  openLiveOrSaved,
} from '../snapshot/open-live-or-saved.ts'
import { explainSubject } from './explain-observe.ts'
import { parseSubject, subjectForms } from './explain-subject.ts'
import { renderExplained } from './explain-text.ts'
import { locateSubject } from './locate-subject.ts'
import type { Explained } from './question.ts'

interface ExplainFlags extends FromFlags {
  readonly leaseNamespace: string
}

export function createExplainCommand(ports: {
  readonly connect: Connect
  readonly clock: Clock
  /** Default: everything. */
  readonly capabilities?: readonly OperatorCapability[]
}): CliCommand<ExplainFlags, Explained & FromSaved> {
  const list = shownOf(ports.capabilities ?? capabilities)
  return {
    name: 'explain',
    summary: 'show whether something may go down now, and if not, why',
    description:
      'Says whether a node may be drained, a pod or an OSD evicted, a pod of a workload, a claim or a budget evicted, a node with a copy of a volume drained, the nodes of a zone drained or a machine fenced now, in which failure domains of a Ceph cluster nodes may be drained, or how far a request for a node is. Of OSDs and Ceph clusters it also says how far their update is. If not: which object blocks it, who holds it, since when, what ends it and how to override it; things that wait for each other in a circle are named as such, with a way out. Takes the name of a node alone, KIND/NAME, KIND NAME and KIND/NAMESPACE/NAME, with the short names of kubectl. Changes nothing. What may hold it and cannot be read makes the answer unknown. What to do about each reason that it names: docs/runbook/README.md of the package. Exit code 0: it may go, 3: it is blocked, or that is not known.',
    examples: [
      { line: 'cofferdam explain worker-a1', says: 'may this node be drained now?' },
      { line: 'cofferdam explain pod/orders-0 -n shop', says: 'may this pod be evicted now?' },
      { line: 'cofferdam explain sts/shop/orders', says: 'may a pod of this workload be evicted now?' },
      { line: 'cofferdam explain pdb/shop/orders -o json', says: 'what holds this budget, for scripts' },
      {
        line: 'cofferdam explain pvc/shop/data-orders-0',
        says: 'may what uses this claim be evicted, and where is its data?',
      },
      { line: 'cofferdam explain volume/pvc-1b7f', says: 'which nodes does this Longhorn volume hold?' },
      {
        line: 'cofferdam explain worker-a1 --from cluster.json',
        says: 'could it be drained when the snapshot was taken?',
      },
      { line: 'cofferdam explain zone/a', says: 'which nodes of this zone may be drained now?' },
      { line: 'cofferdam explain machine/worker-1', says: 'may this machine be fenced now?' },
      {
        line: 'cofferdam explain nd/worker-a1-20260101-120000',
        says: 'how far is this drain, and what is in its way?',
      },
      { line: 'cofferdam explain osd.4', says: 'may this OSD be evicted now, and how far is its update?' },
      {
        line: 'cofferdam explain cephcluster/rook-ceph',
        says: 'in which failure domains may nodes be drained now, and how far is the update?',
      },
    ],

    configure(command) {
      addFromFlag(command)
        .argument('<object...>', subjectForms)
        .option('--lease-namespace <name>', 'where the leader lease is', operatorAccount.namespace)
    },

    async run({ args, flags, signal }) {
      const asked = parseSubject(args, flags.namespace)
      const { link, clock, saved } = await openLiveOrSaved(flags, ports)
      try {
        const { api } = link
        const { leaseNamespace } = flags
        const read = await openReader({ api, clock, leaseNamespace, signal })
        const subject = await locateSubject(asked, { ...read, namespace: link.namespace ?? 'default' })
        return { ...(await explainSubject(subject, { ...read, list })), ...saved }
      } finally {
        await link.close()
      }
    },

    render: (explained, paint) => `${asOfText(explained)}${renderExplained(explained, { list, paint })}`,
    exitCode: ({ mayGo }) => (mayGo ? exitCodes.done : exitCodes.blocked),
  }
}
