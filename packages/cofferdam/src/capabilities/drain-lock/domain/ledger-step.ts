import {
  adopt,
  breakLocks,
  enqueue,
  entriesOf,
  grant,
  intend,
  type Ledger,
  type LedgerChange,
  release,
  releaseKeys,
  renew,
  stepBack,
  withdraw,
} from '../../../ledger/rules/ledger.ts'
import type { DisruptionStep } from './decision.ts'

export type LedgerStepName =
  | 'take'
  | 'queue'
  | 'adopt'
  | 'renew'
  | 'intend'
  | 'release'
  | 'release-budgets'
  | 'step-back'
  | 'withdraw'
  | 'break'
export type LedgerStep = Extract<DisruptionStep, { step: LedgerStepName }>

/** What a step makes of the ledger. */
export interface LedgerStepOutcome {
  readonly ledger: Ledger
  /** Without it the request is reconciled again before anything else of it is done. */
  readonly isTaken: boolean
  /** The epoch under which the request holds from then on, where the step gives it one. */
  readonly epoch?: number
}

/** Goes before `for nodedisruption/NAME`. */
export const ledgerTasks: Readonly<Record<LedgerStepName, string>> = {
  take: 'acquire holds',
  queue: 'keep a place in the queue',
  adopt: 'continue',
  renew: 'renew',
  intend: 'write the intent',
  release: 'release holds',
  'release-budgets': 'release budgets',
  'step-back': 'step back',
  withdraw: 'withdraw',
  break: 'break locks',
}

export function isLedgerStep(step: DisruptionStep): step is LedgerStep {
  return step.step in ledgerTasks
}

/**
 * Takes one step of a request, on the ledger as it is now.
 *
 * Guarantees: what is renewed, begun or released is held under the very epoch that was decided on; nothing is taken for a request
 * that another process has taken over since.
 */
export function takeLedgerStep(
  ledger: Ledger,
  step: LedgerStep,
  { requestId, holder, now }: { readonly requestId: string; readonly holder: string; readonly now: string },
): LedgerStepOutcome {
  switch (step.step) {
    case 'take': {
      if (entriesOf(ledger, requestId).some((entry) => entry.holder !== holder)) return { ledger, isTaken: false }
      const answer = grant(ledger, { requestId, holder, claims: step.claims, now })
      return { ledger: answer.ledger, isTaken: answer.granted, ...(answer.granted && { epoch: answer.epoch }) }
    }
    case 'queue': {
      const { claims, aside } = step
      const request = { requestId, holder, claims, now, ...(aside === undefined ? {} : { aside }) }
      return { ledger: enqueue(ledger, request), isTaken: true }
    }
    case 'adopt': {
      const adopted = adopt(ledger, { requestId, holder })
      return adopted === undefined ? { ledger, isTaken: false } : { ...adopted, isTaken: true }
    }
    case 'renew':
      return outcomeOf(ledger, renew(ledger, { requestId, epoch: step.epoch }))
    case 'intend':
      return outcomeOf(ledger, intend(ledger, { requestId, epoch: step.epoch, bootID: step.bootID }))
    case 'release':
      return outcomeOf(ledger, release(ledger, { requestId, epoch: step.epoch }))
    case 'release-budgets':
      return outcomeOf(ledger, releaseKeys(ledger, { requestId, epoch: step.epoch, keys: step.keys }))
    case 'step-back': {
      const { epoch, aside } = step
      return outcomeOf(ledger, stepBack(ledger, { requestId, epoch, ...(aside === undefined ? {} : { aside }) }))
    }
    case 'withdraw':
      return { ledger: withdraw(ledger, requestId), isTaken: true }
    case 'break': {
      const { keys, by, reason } = step
      return { ledger: breakLocks(ledger, { keys, by, reason, at: now, sparing: requestId }), isTaken: true }
    }
  }
}

function outcomeOf(ledger: Ledger, change: LedgerChange): LedgerStepOutcome {
  return change.ok ? { ledger: change.ledger, isTaken: true } : { ledger, isTaken: false }
}
