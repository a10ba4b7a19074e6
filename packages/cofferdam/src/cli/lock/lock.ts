import { durationText } from '@cofferdam/kubernetes/api/duration.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import { observeGuard } from '../../eviction-guard/observe-guard.ts'
import { defaultAppLockPolicy } from '../../ledger/rules/app-lock.ts'
import { decideLock } from '../../ledger/rules/ask-lock.ts'
import { observeSettings } from '../../ledger/store/observe-settings.ts'
import { appLockAnnotation } from '../../shared/app-lock-annotation.ts'
import { type CliCommand, exitCodes } from '../command.ts'
import type { Connect } from '../connect.ts'
import { parseDurationFlag } from '../parse-duration-flag.ts'
import { annotateBudget, type LockFacts, lockFacts, observeLocks, recordEvent, untilWritten } from './lock-observe.ts'
import { parseLockSubject } from './lock-subject.ts'

interface LockFlags {
  readonly for?: number
  readonly reason?: string
  readonly holder?: string
  readonly force?: boolean
}

export interface LockResult {
  /** `pdb/shop/orders` */
  readonly object: string
  readonly isLocked: boolean
  /** The lock that was written, or the one that stands in the way. */
  readonly lock?: LockFacts
  readonly takenFrom?: LockFacts
  /** A reason of docs/reference/reasons.md. */
  readonly reason: string
  readonly explanation: string
  readonly wayOut?: string
  readonly warnings: readonly string[]
}

export interface LockPorts {
  readonly connect: Connect
  readonly clock: Clock
  readonly random: Random
  /** Who asks, where no flag says so. */
  readonly requester: () => string
}

export function createLockCommand(ports: LockPorts): CliCommand<LockFlags, LockResult> {
  const usual = defaultAppLockPolicy
  return {
    name: 'lock',
    summary: 'block evictions of the pods of a budget for a limited time',
    description: `Locks a PodDisruptionBudget for a limited time, for example during a rebalance or a backup. Every eviction of its pods is refused with 429 while the lock lasts; drains wait and continue by themselves. A lock ends: at most ${durationText(usual.maxTtlMs)} at a time, ${durationText(usual.maxHoldMs)} on end, and ${usual.maxPerNamespace} in one namespace, unless the operator has other limits. Exit code 3: it may not be locked now.`,
    examples: [
      { line: 'cofferdam lock pdb/orders -n shop --for 2h --reason "rebalancing"', says: 'not now, for two hours' },
      { line: 'cofferdam unlock pdb/orders -n shop', says: 'done earlier' },
    ],

    configure(command) {
      command
        .argument('<budget>', 'pdb/NAME or pdb/NAMESPACE/NAME')
        .allowExcessArguments()
        .option(
          '--for <duration>',
          `how long: 2h, 90m; usually ${durationText(usual.maxTtlMs)} at most`,
          parseDurationFlag,
        )
        .option('--reason <text>', 'why; shown to everyone who waits for it')
        .option('--holder <name>', 'whose lock it is; user@host by default')
        .option('--force', 'take it over from another holder, who is named in an Event')
    },

    async run({ args, flags, signal }) {
      const subject = parseLockSubject('lock', args, flags.namespace)
      const wanted = checkedFlags(flags)
      const holder = flags.holder ?? ports.requester()
      const link = await ports.connect(flags)
      try {
        const place = { api: link.api, clock: ports.clock, random: ports.random, signal }
        const key = { namespace: subject.namespace ?? link.namespace ?? 'default', name: subject.name }
        const { appLocks: policy, instead } = await observeSettings(place)
        checkLength(wanted.forMs, policy.maxTtlMs)
        return await untilWritten(async (): Promise<LockResult> => {
          const { budget, ...seen } = await observeLocks(place, key)
          const nowMs = ports.clock.now()
          const isForced = flags.force === true
          const answer = decideLock({ ...seen, nowMs, name: key.name, holder, ...wanted, isForced, policy })
          const object = `pdb/${key.namespace}/${key.name}`
          if (!answer.allowed) {
            const { reason, explanation, wayOut, lock } = answer
            const standing = lock === undefined ? {} : { lock: lockFacts(lock) }
            return { object, isLocked: false, ...standing, reason, explanation, wayOut, warnings: [] }
          }
          const { text, lock, takenFrom, problem } = answer
          await annotateBudget(place, budget, { [appLockAnnotation]: text })
          const until = rfc3339(lock.untilMs)
          if (takenFrom !== undefined) {
            const note = `${holder} takes the lock from ${takenFrom.holder} (${takenFrom.reason}), until ${until}: ${lock.reason}`
            await recordEvent(place, { about: budget, type: 'Warning', reason: 'BreakGlass', note })
          }
          return {
            object,
            isLocked: true,
            lock: lockFacts(lock),
            ...(takenFrom === undefined ? {} : { takenFrom: lockFacts(takenFrom) }),
            reason: 'AppLocked',
            explanation: `Evictions of its pods are refused until ${until}.`,
            warnings: [
              ...(problem === undefined ? [] : [problem]),
              ...((await observeGuard(place)) === false ? [unguarded] : []),
              ...(instead === undefined ? [] : [`limits of the operator: ${instead}`]),
            ],
          }
        })
      } finally {
        await link.close()
      }
    },

    render({ object, isLocked, lock, takenFrom, explanation, wayOut, warnings }, paint) {
      const verdict = isLocked ? paint('green', 'locked') : paint('red', 'not locked')
      const from = takenFrom === undefined ? '' : `, taken over from ${takenFrom.holder} (${takenFrom.reason})`
      const by = isLocked && lock !== undefined ? `\n  by        ${lock.holder}${from}\n  reason    ${lock.reason}` : ''
      const out = wayOut === undefined ? '' : `\n  way out   ${wayOut}`
      const noted = warnings.map((warning) => `\n${paint('yellow', 'warning:')} ${warning}`).join('')
      const end = isLocked ? `\n  end it    cofferdam unlock ${object}` : ''
      return `${paint('bold', object)}  ${verdict}: ${explanation}${by}${out}${end}${noted}`
    },
    exitCode: ({ isLocked }) => (isLocked ? exitCodes.done : exitCodes.blocked),
  }
}

const unguarded =
  'no eviction guard is registered in this cluster: only drains that Cofferdam runs wait for the lock, others do not see it'

function checkedFlags(flags: LockFlags): { readonly forMs: number; readonly reason: string } {
  const { for: forMs, reason = '' } = flags
  if (forMs === undefined) {
    throw new CofferdamError('USAGE', 'a lock must end: say how long with --for', { hint: 'for instance --for 2h' })
  }
  if (reason.trim() === '') {
    throw new CofferdamError('USAGE', 'a lock needs a reason: set it with --reason')
  }
  return { forMs, reason: reason.trim() }
}

function checkLength(forMs: number, maxTtlMs: number): void {
  if (forMs <= maxTtlMs) return
  const most = durationText(maxTtlMs)
  throw new CofferdamError('USAGE', `--for ${durationText(forMs)} is more than the ${most} that a lock may last`, {
    hint: `--for ${most}, and lock it again before that ends`,
  })
}
