import { readFileSync } from 'node:fs'
import { durationText } from '@cofferdam/kubernetes/api/duration.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { guardPort } from '../../deploy/operator-manifests.ts'
import { type GuardClients, parseClientAuthorities } from '../../eviction-guard/guard-clients.ts'
import { defaultAppLockPolicy } from '../../ledger/rules/app-lock.ts'
import type { DrainLockSettings } from '../../ledger/rules/drain-lock-settings.ts'
import { defaultDrainLockSettings } from '../../ledger/rules/drain-lock-settings.ts'
import { guardAt } from '../../operator/guard.ts'
import type { OperatorOptions } from '../../operator/options.ts'
import { parseDurationFlag } from '../parse-duration-flag.ts'
import { parsePort, parseWhole } from '../parse-number.ts'

export interface DrainLockFlags {
  readonly drainLockMode: DrainLockSettings['mode']
  readonly minToleration: number
  readonly fallbackAfter: number
  readonly plannedOutage: number
  readonly maxLock: number
  readonly maxHold: number
  readonly locksPerNamespace: number
  /** Undefined: where the API server can be expected to reach it. */
  readonly guard?: boolean
  readonly guardPort: number
  readonly guardDeletions?: boolean
  readonly guardUrl?: string
  readonly guardClientCa?: GuardClients['authorities']
  readonly guardClientName?: readonly string[]
}

export function configureDrainLock(command: Command): void {
  const { mode, minTolerationMs, fallbackAfterMs, plannedOutageMs } = defaultDrainLockSettings
  const { maxTtlMs, maxHoldMs, maxPerNamespace } = defaultAppLockPolicy
  const duration = (flags: string, says: string, ms: number) =>
    new Option(flags, says).argParser(parseDurationFlag).default(ms, durationText(ms))
  command
    .addOption(
      new Option('--drain-lock-mode <mode>', 'how the budgets of pods that stay are held')
        .choices(['reserve', 'spec', 'settle'])
        .default(mode),
    )
    .addOption(
      duration('--min-toleration <duration>', 'how long a pod that stays must tolerate its node away', minTolerationMs),
    )
    .addOption(
      duration(
        '--fallback-after <duration>',
        'when a request that cannot have all locks drains without them',
        fallbackAfterMs,
      ),
    )
    .addOption(
      duration(
        '--planned-outage <duration>',
        'how long a node may be away for its reboot before remediators may fence it',
        plannedOutageMs,
      ),
    )
    .addOption(duration('--max-lock <duration>', 'how long an owner may lock a budget at a time', maxTtlMs))
    .addOption(duration('--max-hold <duration>', 'how long a budget stays locked, however often prolonged', maxHoldMs))
    .option(
      '--locks-per-namespace <number>',
      'how many budgets owners may lock in one namespace',
      (text: string) => parseWhole(text, { from: 0, to: 10_000, what: 'the number of locks' }),
      maxPerNamespace,
    )
    .option('--guard', 'answer the API server as eviction guard; in a pod, or with --guard-url, by itself')
    .option('--no-guard', 'do not; one that is registered stays so: delete its ValidatingWebhookConfiguration')
    .option('--guard-port <number>', 'where the guard listens', parsePort, guardPort)
    .option('--guard-deletions', 'refuse plain deletions of locked pods too, not only evictions')
    .option('--guard-url <url>', 'where the API server reaches the guard, if not by its Service', parseGuardUrl)
    .option(
      '--guard-client-ca <file>',
      'take reviews only with a client certificate of these authorities (PEM)',
      readClientAuthorities,
    )
    .option(
      '--guard-client-name <name>',
      'and only with this common name; may be repeated',
      (name: string, names?: readonly string[]) => [...(names ?? []), name],
    )
}

function parseGuardUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url?.protocol === 'https:' && url.search === '' && url.hash === '' && url.username === ''
  if (!isPlain || url.pathname !== '/') {
    throw new InvalidArgumentError('it is https://HOST or https://HOST:PORT, without a path.')
  }
  return text
}

function readClientAuthorities(path: string): string {
  try {
    return parseClientAuthorities(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new InvalidArgumentError(`it cannot be used: ${(error as Error).message}.`)
  }
}

/** Undefined: whoever calls under the registered path is the API server. */
function clientsOf({ guardClientCa, guardClientName = [] }: DrainLockFlags): GuardClients | undefined {
  if (guardClientCa !== undefined) return { authorities: guardClientCa, names: guardClientName }
  if (guardClientName.length === 0) return undefined
  throw new CofferdamError('USAGE', '--guard-client-name needs --guard-client-ca', {
    hint: 'without the authorities of client certificates nothing is known of their names',
  })
}

/** What the flags mean to the operator. `isInPod`: whether the Service of deploy/ leads here. */
export function drainLockOptions(
  flags: DrainLockFlags,
  { isInPod }: { readonly isInPod: boolean },
): Pick<OperatorOptions, 'drainLock' | 'appLocks' | 'guard'> {
  const { drainLockMode, minToleration, fallbackAfter, maxLock, maxHold, locksPerNamespace, guardUrl } = flags
  const isGuard = flags.guard ?? (isInPod || guardUrl !== undefined)
  const clients = clientsOf(flags)
  const guard = guardAt({ port: flags.guardPort, ...(guardUrl === undefined ? {} : { url: guardUrl }) })
  return {
    drainLock: {
      mode: drainLockMode,
      minTolerationMs: minToleration,
      fallbackAfterMs: fallbackAfter,
      plannedOutageMs: flags.plannedOutage,
    },
    appLocks: { maxTtlMs: maxLock, maxHoldMs: maxHold, maxPerNamespace: locksPerNamespace },
    ...(isGuard
      ? {
          guard: {
            ...guard,
            guardsDeletions: flags.guardDeletions === true,
            ...(clients === undefined ? {} : { clients }),
          },
        }
      : {}),
  }
}
