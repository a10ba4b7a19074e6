import { durationText } from '@cofferdam/kubernetes/api/duration.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import { type BreakGlass, longestBreakGlassMs } from '../../ledger/rules/break-glass.ts'
import { addNodeFlags, type NodeFlags } from '../choose-nodes.ts'
import { durationOption, parseDurationFlag, parseWaitFlag } from '../parse-duration-flag.ts'
import type { WantedDisruption } from './drain-request.ts'

export interface DrainFlags extends NodeFlags {
  /** A file of `plan drain -o json`. */
  readonly plan?: string
  readonly intent: 'reboot' | 'remove' | 'replace'
  readonly reason?: string
  readonly requester?: string
  readonly fallbackAfter?: number
  readonly deadline?: number
  readonly returnWithin?: number
  readonly skipDrain: boolean
  readonly force?: boolean
  readonly deleteEmptydirData?: boolean
  /** -1: each pod has its own. */
  readonly gracePeriod: number
  readonly breakGlass?: boolean
  readonly for?: number
  /** 0: no limit. */
  readonly timeout: number
  readonly failIfBlocked?: boolean
  readonly wait: boolean
  readonly dryRun: 'none' | 'client' | 'server'
  readonly leaseNamespace: string
  readonly podSelector?: string
  readonly disableEviction?: boolean
  readonly skipWaitForDeleteTimeout?: number
}

const intents = { reboot: 'Reboot', remove: 'Remove', replace: 'Replace' } as const

export function addDrainFlags(command: Command): void {
  addNodeFlags(command, 'drain')
    .option('--plan <file>', 'carry out what cofferdam plan drain -o json printed, wave by wave')
    .addOption(
      new Option('--intent <what>', 'what happens to it after the drain')
        .choices(['reboot', 'remove', 'replace'])
        .default('reboot'),
    )
    .option('--reason <text>', 'why; shown to everyone who waits for it')
    .option('--requester <name>', 'who asks; user@host by default')
    .option(
      '--fallback-after <duration>',
      'evict the pods that should stay too, if their locks are not acquired within this time of being first in the queue',
      parseDurationFlag,
    )
    .option('--deadline <duration>', 'abandon the request if it is not done by then', parseDurationFlag)
    .option(
      '--return-within <duration>',
      'how long a reboot may take; for so long the node is protected from remediation',
      parseDurationFlag,
    )
    .option('--no-skip-drain', 'evict the pods that ask to stay, too')
    .option('--force', 'evict pods that no controller creates again, too')
    .option('--delete-emptydir-data', 'evict pods with emptyDir volumes, too; that deletes their data')
    .option('--ignore-daemonsets', 'changes nothing: pods of DaemonSets always stay')
    .addOption(
      new Option('--grace-period <seconds>', 'how long pods have to end when they are evicted')
        .argParser(parseSeconds)
        .default(-1, 'that of each pod, as with -1'),
    )
    .option('--break-glass', 'override the locks of others; needs --reason and --for')
    .option('--for <duration>', 'how long the break-glass override lasts', parseDurationFlag)
    .addOption(
      durationOption('--timeout <duration>', 'how long to wait; 0 for no limit', {
        ms: 3_600_000,
        parse: parseWaitFlag,
      }),
    )
    .option('--fail-if-blocked', 'do not wait in the queue: exit with 3 if it is blocked now; the request stays')
    .option('--no-wait', 'create the request, and do not wait for it')
    .addOption(
      new Option(
        '--dry-run [how]',
        'show what would stay, be evicted and be waited for, and create nothing; server also asks the API server',
      )
        .choices(['none', 'client', 'server'])
        .preset('client')
        .default('none'),
    )
    .option('--lease-namespace <name>', 'where the leader lease is', operatorAccount.namespace)
    .option('--chunk-size <number>', 'changes nothing: it is accepted for scripts of kubectl')
    .option('--pod-selector <selector>', 'refused: the node would not be empty')
    .option('--disable-eviction', 'refused: it would delete pods past their budgets')
    .option('--skip-wait-for-delete-timeout <seconds>', 'refused but for 0: pods could still run', parseSeconds)
}

function parseSeconds(text: string): number {
  const seconds = /^-?\d+$/.test(text) ? Number(text) : Number.NaN
  if (!(seconds >= -1 && seconds <= 2 ** 31 - 1)) {
    throw new InvalidArgumentError('it is a whole number of seconds, or -1 for that of each pod.')
  }
  return seconds
}

/** Flags of kubectl that would break what this command promises. */
export function refuseFlags({ podSelector, disableEviction, skipWaitForDeleteTimeout = 0 }: DrainFlags): void {
  if (podSelector !== undefined) {
    throw new CofferdamError(
      'USAGE',
      '--pod-selector is not supported: pods that it leaves out would stay, and the node would be reported as drained with them on it',
      { hint: 'annotate pods that may stay for a reboot with cofferdam.io/skip-drain=true' },
    )
  }
  if (disableEviction === true) {
    throw new CofferdamError(
      'USAGE',
      '--disable-eviction is not supported: it deletes pods without asking their budgets, and Cofferdam never does that',
      { hint: '--break-glass overrides locks of others; cofferdam explain node/NAME shows which budget refuses' },
    )
  }
  if (skipWaitForDeleteTimeout > 0) {
    throw new CofferdamError(
      'USAGE',
      '--skip-wait-for-delete-timeout is not supported: a pod that is terminating may still run and write, so its node is not drained',
      {
        hint: 'cofferdam drain shows what each terminating pod waits for; kubectl delete pod --force removes one for good',
      },
    )
  }
}

/** What is asked for, of each node alike. */
export type AskedOfNodes = Omit<WantedDisruption, 'nodeName'>

export function askedBy(
  flags: DrainFlags,
  { requester, nowMs }: { readonly requester: () => string; readonly nowMs: number },
): AskedOfNodes {
  const { reason, requester: by = requester(), fallbackAfter, deadline, returnWithin, gracePeriod } = flags
  const breakGlass = brokenGlass(flags, { by, nowMs })
  return {
    intent: intents[flags.intent],
    requester: by,
    honourSkipDrain: flags.skipDrain,
    accepts: [
      ...(flags.force === true ? ['force' as const] : []),
      ...(flags.deleteEmptydirData === true ? ['deleteEmptyDirData' as const] : []),
    ],
    nowMs,
    ...(gracePeriod < 0 ? {} : { gracePeriodSeconds: gracePeriod }),
    ...(reason === undefined ? {} : { reason }),
    ...(fallbackAfter === undefined ? {} : { fallbackAfter: durationText(fallbackAfter) }),
    ...(deadline === undefined ? {} : { deadline: rfc3339(nowMs + deadline) }),
    ...(returnWithin === undefined ? {} : { returnWithin: durationText(returnWithin) }),
    ...(breakGlass === undefined ? {} : { breakGlass }),
  }
}

function brokenGlass(
  { breakGlass, reason = '', for: forMs }: DrainFlags,
  { by, nowMs }: { readonly by: string; readonly nowMs: number },
): BreakGlass | undefined {
  if (breakGlass !== true) {
    if (forMs === undefined) return undefined
    throw new CofferdamError('USAGE', '--for says how long the break-glass override lasts; use it with --break-glass')
  }
  if (reason.trim() === '') throw new CofferdamError('USAGE', '--break-glass needs a --reason: it is kept on record')
  if (forMs === undefined) {
    throw new CofferdamError('USAGE', '--break-glass must end: say when with --for', { hint: 'for instance --for 30m' })
  }
  if (forMs > longestBreakGlassMs) {
    throw new CofferdamError('USAGE', `a break-glass override lasts ${durationText(longestBreakGlassMs)} at most`, {
      hint: 'ask again when it has ended: the request goes on',
    })
  }
  return { by, reason: reason.trim(), untilMs: nowMs + forMs }
}
