import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Log } from '@cofferdam/kubernetes/runtime/log.ts'
import type { CephCommands } from '../ceph/ceph-commands.ts'
import type { CephCounts, CephQuestion } from '../ceph/ceph-metrics.ts'
import type { CephParsers } from '../ceph/create-pg-parser.ts'
import { applyNoout } from '../ceph/noout.ts'
import { observeCeph } from '../ceph/observe-ceph.ts'
import { observeOsdHosts } from '../ceph/observe-osd-hosts.ts'
import { observeOsdVersions } from '../ceph/observe-osd-versions.ts'
import { observeQuorum } from '../ceph/observe-quorum.ts'
import { observeStatus } from '../ceph/observe-status.ts'
import { askOkToStop, askStoppable } from '../ceph/ok-to-stop.ts'
import { askOkToUpgrade } from '../ceph/ok-to-upgrade.ts'
import { applyOsdNoout } from '../ceph/osd-noout.ts'
import { compilePgPattern } from '../ceph/pg-pattern.ts'
import type { CephPorts, MonQuorum } from '../ceph/reader/ceph-ports.ts'
import { CephReader } from '../ceph/reader/ceph-reader.ts'
import type { buildSafetyIndex } from '../safety/safety-index.ts'
import { known, type Observed } from '../shared/observed.ts'
import { intendedWrites } from './intended-writes.ts'

export interface CephWiring {
  /** The way to each Ceph cluster; undefined where none is known, and then nothing of it may go down. */
  readonly ceph?: (cluster: { readonly namespace: string; readonly name: string }) => CephCommands | undefined
  /** Where large answers of Ceph are parsed; by default in this thread. */
  readonly parsers?: Pick<CephParsers, 'parse' | 'parseOsdDump'>
  /** Whoever counts how often a safety index is built passes their own. */
  readonly buildIndex?: typeof buildSafetyIndex
  readonly clock: Clock
  readonly dryRun: boolean
  /** Whether this process leads: what changes Ceph is a write like any other. */
  readonly mayAct: () => boolean
  readonly log: Log
  readonly counts: Pick<CephCounts, 'countQuestion'>
}

/** The questions to Ceph, each with its limit and counted, and the one reader of its maps; in a dry run those that change something are only logged. */
export function buildCephPorts({
  ceph,
  parsers,
  buildIndex,
  clock,
  dryRun,
  mayAct,
  log,
  counts,
}: CephWiring): CephPorts {
  const names = new WeakMap<CephCommands, string>()
  const quorums = new Map<string, Observed<MonQuorum>>()
  const limits = { timeoutMs: 15_000 }
  const tellIntention = intendedWrites(log, clock)
  async function counted<T>(
    commands: CephCommands,
    question: CephQuestion['question'],
    answer: Promise<Observed<T>>,
  ): Promise<Observed<T>> {
    const observed = await answer
    const result = observed.known ? 'answered' : 'silent'
    counts.countQuestion({ cluster: names.get(commands) ?? '', question, result })
    return observed
  }
  /** A process that stood still must not set what the new leader would never unset: it has no record of it. */
  function whileLeading<T>(change: () => Promise<T>): Promise<T> {
    if (mayAct()) return change()
    return Promise.reject(new CofferdamError('LEAD_LOST', 'nothing is set in Ceph: the lease was not renewed in time'))
  }
  return {
    reader: new CephReader({
      clock,
      ...(buildIndex === undefined ? {} : { buildIndex }),
      observeMap: (commands, signal) =>
        counted(commands, 'map', observeCeph(commands, { ...limits, signal, ...parsers })),
      observePulse: async (commands, signal) => {
        const status = await counted(commands, 'status', observeStatus(commands, { ...limits, signal }))
        if (!status.known) return status
        const { osdEpoch: epoch, pgsByState: pgStates, upOsdCount: upOsds, isWithoutMgr } = status.value
        return known({ epoch, pgStates, upOsds, ...(isWithoutMgr === undefined ? {} : { isWithoutMgr }) })
      },
    }),
    of(cluster) {
      const commands = ceph?.(cluster)
      if (commands !== undefined) names.set(commands, `${cluster.namespace}/${cluster.name}`)
      return commands
    },
    observeOsdHosts: (commands, signal) => observeOsdHosts(commands, { ...limits, signal }),
    async observeQuorum(commands, signal) {
      const quorum = await counted(commands, 'quorum', observeQuorum(commands, { ...limits, signal }))
      quorums.set(names.get(commands) ?? '', quorum)
      return quorum
    },
    lastQuorum: ({ namespace, name }) => quorums.get(`${namespace}/${name}`),
    askOkToStop: (commands, osds, signal, ignoredPools = []) =>
      counted(commands, 'ok-to-stop', askOkToStop(commands, osds, { ...limits, signal, ignoredPools })),
    askStoppable: (commands, osd, max, signal) =>
      counted(commands, 'ok-to-stop', askStoppable(commands, osd, { ...limits, max, signal })),
    askOkToUpgrade: (commands, question, signal) =>
      counted(commands, 'ok-to-upgrade', askOkToUpgrade(commands, question, { ...limits, signal })),
    observeOsdVersions: (commands, signal) => observeOsdVersions(commands, { ...limits, signal }),
    async applyNoout(commands, wanted, signal) {
      if (!dryRun) return whileLeading(() => applyNoout(commands, wanted, { ...limits, signal }))
      tellIntention({ ...wanted }, 'would change noout')
      return { set: [], unset: [], gone: [], failed: [] }
    },
    async applyOsdNoout(commands, wanted, signal) {
      if (!dryRun) return whileLeading(() => applyOsdNoout(commands, wanted, { ...limits, signal }))
      tellIntention({ ...wanted }, 'would change noout of OSDs')
      return []
    },
    compilePgPattern,
  }
}
