import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { Option } from 'commander'
import { compareWays } from '../../capabilities/osd-update/domain/compare-ways.ts'
import {
  osdsInParallel,
  type ParallelLimit,
  parallelLimitText,
} from '../../capabilities/osd-update/domain/parallel-limit.ts'
import { planRounds } from '../../capabilities/osd-update/domain/plan-rounds.ts'
import { withProvedBound } from '../../capabilities/osd-update/domain/prove-bound.ts'
import { recheckRound } from '../../capabilities/osd-update/domain/recheck-round.ts'
import {
  defaultUpdateSettings,
  type UpdateSettings,
  updateOrders,
} from '../../capabilities/osd-update/domain/update-settings.ts'
import type { PlanSource } from '../../ceph/saved/parse-ceph-answers.ts'
import { domainsOf } from '../../safety/failure-domain.ts'
import { repeatedOsdProblems } from '../../safety/map-problems.ts'
import { harmlessText } from '../../shared/harmless-text.ts'
import { type CliCommand, exitCodes } from '../command.ts'
import type { CephFlags } from '../operator/ceph-link.ts'
import { readCephFiles } from './plan-ceph-files.ts'
import { observePlanSource, type PlanLinks } from './plan-ceph-live.ts'
import { parseCpuSeconds, parseMaxParallel, parseReserve } from './plan-flags.ts'
import { type OsdUpdateResult, renderOsdUpdate } from './plan-osd-update-text.ts'

export interface PlanOsdUpdateFlags extends CephFlags {
  readonly from?: string
  readonly clusterName?: string
  readonly maxParallel?: ParallelLimit
  readonly reserve?: number
  readonly canary?: boolean
  readonly order?: UpdateSettings['order']
  readonly cpuSeconds: number
}

export interface PlanPorts extends PlanLinks {
  /** What this process has computed so far, in milliseconds of one processor. */
  readonly cpuMs: () => number
}

export function createPlanOsdUpdateCommand(ports: PlanPorts): CliCommand<PlanOsdUpdateFlags, OsdUpdateResult> {
  return {
    name: 'osd-update',
    summary: 'in which rounds all OSDs can be restarted without a placement group losing too many copies',
    description:
      'Plans the rounds in which all OSDs of a Ceph cluster can be restarted, as few as can be found, with the lower bound and, for comparison, the number of rounds host by host and with the method of Rook. From the live cluster, or with --from DIR from the -f json outputs of five ceph commands. Changes nothing. Exit code 3: some OSDs must not stop now.',
    examples: [
      { line: 'cofferdam plan osd-update -n rook-ceph', says: 'in which rounds all OSDs can be restarted' },
      {
        line: 'cofferdam plan osd-update --from saved --max-parallel 10%',
        says: 'offline: from osd-dump.json, osd-tree.json and three more files of the folder',
      },
      {
        line: 'cofferdam plan osd-update --canary --reserve 1 -o json',
        says: 'one OSD first, and always one copy more than min_size',
      },
    ],

    configure(command) {
      command
        .option('--from <dir>', 'read what five ceph commands printed, not a cluster')
        .option('--cluster-name <name>', 'which CephCluster, when there are several')
        .option('--max-parallel <limit>', 'at most so many OSDs at once: 20, or 15% of all', parseMaxParallel)
        .option('--reserve <copies>', 'copies that every placement group keeps beyond its min_size', parseReserve)
        .option('--canary', 'start with one OSD, then two, four and so on')
        .addOption(new Option('--order <order>', 'what counts most').choices([...updateOrders]))
        .option('--cpu-seconds <seconds>', 'how long to search for fewer rounds', parseCpuSeconds, 1)
        .option('--ceph-conf <file>', 'ask the monitors of this ceph.conf, not the toolbox pod')
        .option('--ceph-name <user>', 'as whom to ask them, as in client.admin')
        .option('--ceph-keyring <file>', 'with the key of this keyring')
    },

    async run({ flags, terminal, signal }) {
      const warn = (text: string) => terminal.note(`${terminal.paint('yellow', 'warning:')} ${harmlessText(text)}`)
      const { source, settings } = await readSource()
      for (const { object, problem } of repeatedOsdProblems(source.map)) warn(`${object}: ${problem}`)
      const given = {
        maxInParallel: flags.maxParallel ?? settings.maxInParallel,
        reserve: flags.reserve ?? settings.reserve,
        order: flags.order ?? settings.order,
        canary: flags.canary ?? settings.canary,
      }
      try {
        return planUpdate({ ...settings, ...given }, source, {
          cpuMs: ports.cpuMs,
          budgetMs: flags.cpuSeconds * 1000,
          showProgress: (doing) => terminal.progress(doing),
        })
      } finally {
        terminal.progress(undefined)
      }

      async function readSource(): Promise<{ readonly source: PlanSource; readonly settings: UpdateSettings }> {
        if (flags.from === undefined) {
          const { source, parsed, warnings } = await observePlanSource(ports, flags, signal)
          for (const { object, problem } of warnings) warn(`${object}: ${problem}`)
          for (const { field, problem } of parsed.problems) warn(`${field}: ${problem}`)
          for (const { field, instead } of parsed.deprecated) warn(`${field} is deprecated; its place is ${instead}`)
          return { source, settings: parsed.settings }
        }
        const live = (['clusterName', 'cephConf', 'cephName', 'cephKeyring'] as const).find(
          (flag) => flags[flag] !== undefined,
        )
        if (live !== undefined) {
          const name = `--${live.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
          throw new CofferdamError('USAGE', `${name} is for a live cluster, --from reads files`, {
            hint: 'give one of them',
          })
        }
        return { source: await readCephFiles(flags.from), settings: defaultUpdateSettings }
      }
    },

    render: renderOsdUpdate,
    data: ({ plan }) => plan,
    exitCode: ({ plan }) => (plan.blocked.length > 0 ? exitCodes.blocked : exitCodes.done),
  }
}

/**
 * Guarantees: every round has passed the second check, which shares nothing with what made the plan.
 *
 * @throws Error where the two disagree: then one of them is wrong, and no plan is better than that one
 */
function planUpdate(
  settings: UpdateSettings,
  { map, sites }: PlanSource,
  {
    cpuMs,
    budgetMs,
    showProgress,
  }: { readonly cpuMs: () => number; readonly budgetMs: number; readonly showProgress: (doing: string) => void },
): OsdUpdateResult {
  const targets = map.osds.map(({ id }) => id)
  const { reserve, order, canary, rookMaxInParallel } = settings
  const maxParallel = osdsInParallel(settings.maxInParallel, targets.length)
  let searchUntil: number | undefined
  const mayGoOn = () => {
    searchUntil ??= cpuMs() + budgetMs
    return cpuMs() < searchUntil
  }
  showProgress(`planning ${targets.length} OSDs`)
  const startedAt = cpuMs()
  const found = planRounds({ map, targets, maxParallel, reserve, order, canary, sites, mayGoOn })
  const cpuSeconds = Math.round(cpuMs() - startedAt) / 1000
  for (const [at, osds] of found.rounds.entries()) {
    showProgress(`checking round ${at + 1} of ${found.rounds.length}`)
    const check = recheckRound({ map, osds, reserve, sites })
    if (!check.isSafe) throw new Error(`the second check refuses round ${at + 1} of the plan: ${check.why}`)
  }
  const ways = compareWays({ map, targets, maxParallel, rookMaxInParallel, reserve, sites })
  showProgress('searching for a lower bound')
  const { rounds, lowerBound, blocked, how } = withProvedBound(found, { map, targets, reserve, sites })
  const { rookRounds } = ways
  return {
    plan: { rounds, lowerBound, rookRounds, cpuSeconds, blocked },
    ways,
    how,
    osdCount: targets.length,
    maxParallel,
    limit: parallelLimitText(settings.maxInParallel),
    reserve,
    domainOf: domainNames(),
  }

  function domainNames(): ReadonlyMap<number, string> {
    const names = new Map<number, string>()
    for (const [domain, osds] of domainsOf(map, ways.domainType).osdsByDomain) {
      for (const id of osds) if (!names.has(id)) names.set(id, domain)
    }
    return names
  }
}
