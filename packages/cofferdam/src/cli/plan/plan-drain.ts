import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { Option } from 'commander'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import { addNodeFlags, chooseNodes, type NodeFlags, parseNodeNames } from '../choose-nodes.ts'
import { type CliCommand, exitCodes } from '../command.ts'
import type { Connect } from '../connect.ts'
import { addFromFlag, type FromFlags, openLiveOrSaved } from '../snapshot/open-live-or-saved.ts'
import type { DrainPlanFile, PlannedRequest } from './drain-plan-file.ts'
import { renderDrainPlan } from './plan-drain-text.ts'
import { planNodes } from './plan-nodes.ts'

export interface PlanDrainFlags extends NodeFlags, FromFlags {
  readonly by?: string
  readonly intent: 'reboot' | 'remove' | 'replace'
  readonly skipDrain: boolean
  readonly force?: boolean
  readonly deleteEmptydirData?: boolean
  readonly leaseNamespace: string
}

export interface PlanDrainPorts {
  readonly connect: Connect
  readonly clock: Clock
}

const intents = { reboot: 'Reboot', remove: 'Remove', replace: 'Replace' } as const

export function createPlanDrainCommand(ports: PlanDrainPorts): CliCommand<PlanDrainFlags, DrainPlanFile> {
  return {
    name: 'drain',
    summary: 'in which waves nodes can be drained, which never can, and why',
    description:
      'Plans the waves in which nodes can be drained together: by failure domains of Ceph, copies of Longhorn, room in budgets, locks of owners and limits of the DisruptionPolicy at once, with the lower bound. Nodes that can never go as asked are named with the reason, before the first one is touched. From the live cluster, or with --from FILE from what cofferdam snapshot saved. Changes nothing; cofferdam drain --plan FILE carries a plan out. Exit code 3: some nodes can never go as asked, or what may hold them could not be read.',
    examples: [
      { line: 'cofferdam plan drain --all --delete-emptydir-data', says: 'in which waves all nodes can be rebooted' },
      { line: 'cofferdam plan drain --all --by zone', says: 'zone after zone' },
      {
        line: 'cofferdam plan drain -l pool=storage --from cluster.json',
        says: 'offline, from what cofferdam snapshot saved',
      },
      {
        line: 'cofferdam plan drain --all -o json > plan.json',
        says: 'for cofferdam drain --plan plan.json',
      },
    ],

    configure(command) {
      addFromFlag(addNodeFlags(command, 'drain'))
        .option('--by <label>', 'no wave has nodes of two values of this label; zone, region or a label of nodes')
        .addOption(
          new Option('--intent <what>', 'what happens to them after the drain')
            .choices(['reboot', 'remove', 'replace'])
            .default('reboot'),
        )
        .option('--no-skip-drain', 'evict the pods that ask to stay, too')
        .option('--force', 'evict pods that no controller creates again, too')
        .option('--delete-emptydir-data', 'evict pods with emptyDir volumes, too; that deletes their data')
        .option('--ignore-daemonsets', 'changes nothing: pods of DaemonSets always stay')
        .option('--lease-namespace <name>', 'where the leader lease is', operatorAccount.namespace)
    },

    async run({ args, flags, signal }) {
      const names = parseNodeNames(args, flags)
      const { link, clock } = await openLiveOrSaved(flags, ports)
      try {
        const { nodes } = await chooseNodes(names, flags, { api: link.api, signal })
        const by = flags.by === undefined ? undefined : labelReader(flags.by, nodes)
        return await planNodes(
          nodes.map(({ metadata }) => metadata.name),
          askedOf(flags),
          { link, clock, signal, leaseNamespace: flags.leaseNamespace, ...(by && { by }) },
        )
      } finally {
        await link.close()
      }
    },

    render: renderDrainPlan,
    exitCode: ({ never, unknown }) => (never.length + unknown.length > 0 ? exitCodes.blocked : exitCodes.done),
  }
}

function askedOf({ intent, skipDrain, force, deleteEmptydirData }: PlanDrainFlags): PlannedRequest {
  return {
    intent: intents[intent],
    honourSkipDrain: skipDrain,
    accepts: [
      ...(force === true ? ['force' as const] : []),
      ...(deleteEmptydirData === true ? ['deleteEmptyDirData' as const] : []),
    ],
  }
}

const knownLabels: Readonly<Record<string, string>> = {
  zone: 'topology.kubernetes.io/zone',
  region: 'topology.kubernetes.io/region',
}

function labelReader(
  by: string,
  nodes: readonly { readonly metadata: { name: string; labels?: Readonly<Record<string, string>> } }[],
) {
  const label = knownLabels[by] ?? by
  const values = new Map(nodes.map(({ metadata }) => [metadata.name, metadata.labels?.[label] ?? '']))
  return { label, valueOf: (node: string) => values.get(node) ?? '' }
}
