import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { judgeAppLocks } from '../../ledger/rules/app-lock.ts'
import { observeSettings } from '../../ledger/store/observe-settings.ts'
import { appLockAnnotation, lockedSinceAnnotation } from '../../shared/app-lock-annotation.ts'
import { type CliCommand, exitCodes } from '../command.ts'
import type { LockPorts } from './lock.ts'
import { annotateBudget, type LockFacts, lockFacts, observeLocks, recordEvent, untilWritten } from './lock-observe.ts'
import { parseLockSubject } from './lock-subject.ts'

interface UnlockFlags {
  readonly holder?: string
  readonly force?: boolean
}

export interface UnlockResult {
  /** `pdb/shop/orders` */
  readonly object: string
  readonly isLocked: boolean
  /** The lock that was ended, or the one that still stands. */
  readonly lock?: LockFacts
  readonly explanation: string
  readonly wayOut?: string
}

export function createUnlockCommand(ports: LockPorts): CliCommand<UnlockFlags, UnlockResult> {
  return {
    name: 'unlock',
    summary: 'end the lock of a budget',
    description:
      'Ends the lock that an owner put on a PodDisruptionBudget, so that only the budget itself decides about evictions of its pods again. The lock of another holder is ended with --force only. Exit code 3: another holder has locked it.',
    examples: [
      { line: 'cofferdam unlock pdb/orders -n shop', says: 'the rebalance is done' },
      { line: 'cofferdam unlock pdb/shop/orders --force', says: 'end the lock of another holder' },
    ],

    configure(command) {
      command
        .argument('<budget>', 'pdb/NAME or pdb/NAMESPACE/NAME')
        .allowExcessArguments()
        .option('--holder <name>', 'whose lock it is; user@host by default')
        .option('--force', 'end the lock of another holder, who is named in an Event')
    },

    async run({ args, flags, signal }) {
      const subject = parseLockSubject('unlock', args, flags.namespace)
      const holder = flags.holder ?? ports.requester()
      const link = await ports.connect(flags)
      try {
        const place = { api: link.api, clock: ports.clock, random: ports.random, signal }
        const key = { namespace: subject.namespace ?? link.namespace ?? 'default', name: subject.name }
        const object = `pdb/${key.namespace}/${key.name}`
        const { appLocks: policy } = await observeSettings(place)
        return await untilWritten(async (): Promise<UnlockResult> => {
          const { budget, ...seen } = await observeLocks(place, key)
          const judged = judgeAppLocks({ ...seen, policy, nowMs: ports.clock.now() }).get(key.name)
          if (judged === undefined) return { object, isLocked: false, explanation: 'It is not locked.' }
          const { lock, problem } = judged
          const isForeign = lock !== undefined && lock.holder !== holder
          if (isForeign && flags.force !== true) {
            const until = rfc3339(lock.untilMs)
            return {
              object,
              isLocked: true,
              lock: lockFacts(lock),
              explanation: `${lock.holder} has locked it until ${until}: ${lock.reason}.`,
              wayOut: `It ends by itself; --force ends it now, and --holder ${lock.holder} if that is you.`,
            }
          }
          await annotateBudget(place, budget, { [appLockAnnotation]: null, [lockedSinceAnnotation]: null })
          if (isForeign) {
            const note = `${holder} ends the lock of ${lock.holder} (${lock.reason})`
            await recordEvent(place, { about: budget, type: 'Warning', reason: 'BreakGlass', note })
          }
          const explanation =
            lock === undefined
              ? `What was left of a lock is removed: ${problem ?? 'it locked nothing'}.`
              : `The lock of ${lock.holder} is ended (${lock.reason}).`
          return { object, isLocked: false, ...(lock === undefined ? {} : { lock: lockFacts(lock) }), explanation }
        })
      } finally {
        await link.close()
      }
    },

    render({ object, isLocked, explanation, wayOut }, paint) {
      const verdict = isLocked ? paint('red', 'still locked') : paint('green', 'not locked')
      const out = wayOut === undefined ? '' : `\n  way out   ${wayOut}`
      return `${paint('bold', object)}  ${verdict}: ${explanation}${out}`
    },
    exitCode: ({ isLocked }) => (isLocked ? exitCodes.blocked : exitCodes.done),
  }
}
