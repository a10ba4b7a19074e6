import { ApiError, hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { CofferdamError, hasCode } from '@cofferdam/kubernetes/errors.ts'
import { type Clock, sleep, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type DisruptionLedger, disruptionLedgers, ledgerName } from '../../shared/kinds/disruption-ledger.ts'
import type { NodeDisruption } from '../../shared/kinds/node-disruption.ts'
import { nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import { type Observed, unknown } from '../../shared/observed.ts'
import type { Permission } from '../../shared/permission.ts'
import type { Claim } from '../rules/claim.ts'
import type { Ledger } from '../rules/ledger.ts'
import { type ActedRecord, type RecalledLedger, raiseAbove, recallLedger, restoreHolds } from '../rules/lost-holds.ts'
import { ledgerStatus, parseLedger } from '../rules/parse-ledger.ts'

export const ledgerPermissions: readonly Permission[] = [
  { group: 'cofferdam.io', resource: 'disruptionledgers', verbs: ['create'] },
  { group: 'cofferdam.io', resource: 'disruptionledgers', names: [ledgerName], verbs: ['get'] },
  { group: 'cofferdam.io', resource: 'disruptionledgers/status', names: [ledgerName], verbs: ['update'] },
  { group: 'cofferdam.io', resource: 'nodedisruptions', verbs: ['list'] },
]

export interface LedgerStoreOptions {
  readonly api: Pick<KubeApi, 'get' | 'list' | 'create' | 'update'>
  readonly clock: Clock
  /** The highest epoch on any annotation or record in view; a ledger that is behind it has lost what it knew. */
  readonly highestEpoch?: () => number
}

export interface LedgerStore {
  /** As it is now, not from a cache. Never throws. */
  read(signal: AbortSignal): Promise<Observed<Ledger>>
  /**
   * Writes what `next` makes of the ledger as it is now, and returns the value that went with it.
   *
   * Guarantees: `next` saw the very ledger that was replaced; nothing is written when it gives the same ledger back.
   * Assumes: `next` is pure, and applied to its own outcome it changes nothing that matters: after a lost reply it may be
   * applied again.
   * Fails closed: throws, with nothing changed, while the ledger makes no sense or has forgotten what is under way. NotFound
   * means that its kind is not installed, and never that somebody deleted it.
   */
  change<T>(describe: string, next: (ledger: Ledger) => LedgerStep<T>, signal: AbortSignal): Promise<T>
  /**
   * Enters again what a ledger has forgotten that was deleted, or put back as it once was. Returns whose. `claimsOf` adds
   * what is not on record.
   */
  restore(
    claimsOf: (record: ActedRecord) => Promise<readonly Claim[]>,
    signal: AbortSignal,
  ): Promise<readonly ActedRecord[]>
}

export interface LedgerStep<T> {
  readonly ledger: Ledger
  readonly value: T
}

interface Loaded extends RecalledLedger {
  readonly object: DisruptionLedger | undefined
}

const mostConflicts = 20
const mostSilences = 3

/** The way to the one ledger. */
export function createLedgerStore({ api, clock, highestEpoch = () => 0 }: LedgerStoreOptions): LedgerStore {
  let highestGiven = 0

  async function load(signal: AbortSignal): Promise<Loaded> {
    const object = await getLedger(signal)
    const parsed = parseLedger(object)
    if (!parsed.known) {
      throw new CofferdamError('LEDGER_UNUSABLE', parsed.why, {
        hint: `kubectl delete disruptionledger ${ledgerName} has it rebuilt from the records of what is under way`,
      })
    }
    const ledger = parsed.value
    const seen = [highestGiven, highestEpoch()]
    // A ledger that never gave out an epoch may be new, or made anew.
    if (ledger.nextEpoch > 1 && raiseAbove(ledger, seen) === ledger) {
      highestGiven = ledger.nextEpoch - 1
      return { object, ledger, lost: [], isBehind: false }
    }
    return { object, ...recallLedger(ledger, { epochs: seen, disruptions: await listDisruptions(signal) }) }
  }

  async function getLedger(signal: AbortSignal): Promise<DisruptionLedger | undefined> {
    try {
      return await api.get(disruptionLedgers, { name: ledgerName }, { signal })
    } catch (error) {
      if (hasReason(error, 'NotFound')) return undefined
      throw error
    }
  }

  async function listDisruptions(signal: AbortSignal): Promise<readonly NodeDisruption[]> {
    try {
      return (await api.list(nodeDisruptions, { signal })).items
    } catch (error) {
      // The kind is not there, so no record of it is either.
      if (hasReason(error, 'NotFound')) return []
      throw error
    }
  }

  async function write(object: DisruptionLedger | undefined, ledger: Ledger, signal: AbortSignal): Promise<void> {
    const present =
      object ??
      (await api.create(
        disruptionLedgers,
        { apiVersion: apiVersionOf(disruptionLedgers), kind: disruptionLedgers.kind, metadata: { name: ledgerName } },
        { signal },
      ))
    const status = ledgerStatus(ledger, present.status)
    try {
      await api.update(disruptionLedgers, { ...present, status }, { subresource: 'status', signal })
    } catch (error) {
      // Deleted since it was read or made. Only whoever cannot make one has no ledger.
      throw hasReason(error, 'NotFound') ? new ApiError('Conflict', error.message) : error
    }
    highestGiven = Math.max(highestGiven, ledger.nextEpoch - 1)
  }

  async function swap<T>(
    describe: string,
    next: (loaded: Loaded) => Promise<LedgerStep<T>> | LedgerStep<T>,
    signal: AbortSignal,
  ): Promise<T> {
    let unsure: LedgerStep<T> | undefined
    for (let conflicts = 0, silences = 0; ; ) {
      const loaded = await load(signal)
      if (unsure !== undefined && isSameJson(loaded.ledger, unsure.ledger)) return unsure.value
      const step = await next(loaded)
      if (step.ledger === loaded.ledger) return step.value
      try {
        await write(loaded.object, step.ledger, signal)
        return step.value
      } catch (error) {
        if (signal.aborted) throw error
        if (isOvertaken(error) && conflicts < mostConflicts) {
          conflicts += 1
        } else if (isUnsure(error) && silences < mostSilences) {
          silences += 1
          unsure = step
        } else throw withTask(error, describe)
      }
      await sleep(clock, Math.min(1_000, 5 * 2 ** (conflicts + 3 * silences)), signal)
    }
  }

  return {
    async read(signal) {
      try {
        const { ledger, lost } = await load(signal)
        return lost.length === 0 ? { known: true, value: ledger } : unknown(lostText(lost))
      } catch (error) {
        return unknown(error instanceof Error ? error.message : String(error))
      }
    },

    change: (describe, next, signal) =>
      swap(
        describe,
        ({ ledger, lost }) => {
          if (lost.length > 0) throw new CofferdamError('LEDGER_LOST', lostText(lost))
          return next(ledger)
        },
        signal,
      ),

    restore: (claimsOf, signal) =>
      swap(
        'rebuild the ledger',
        async ({ ledger, lost, isBehind }) => {
          // The epoch is kept though nothing was lost: the records that mention it may be deleted one day.
          if (lost.length === 0) return { ledger: isBehind ? { ...ledger } : ledger, value: lost }
          const whole = await Promise.all(
            lost.map(async (record) => ({ ...record, claims: [...record.claims, ...(await claimsOf(record))] })),
          )
          return { ledger: restoreHolds(ledger, whole, timestamp(clock)), value: lost }
        },
        signal,
      ),
  }
}

/** Somebody else changed, made or deleted the ledger since it was read. */
function isOvertaken(error: unknown): boolean {
  return hasReason(error, 'Conflict', 'AlreadyExists')
}

/** The write may have happened all the same. */
function isUnsure(error: unknown): boolean {
  return hasCode(error, 'API_UNREACHABLE') || hasReason(error, 'Timeout', 'ServerTimeout', 'InternalError')
}

function lostText(lost: readonly ActedRecord[]): string {
  const names = lost.map(({ name }) => `nodedisruption/${name}`).join(', ')
  return `the ledger has forgotten what is under way (${names}); nothing is granted until it is rebuilt`
}

function withTask(error: unknown, describe: string): unknown {
  if (!hasReason(error, 'Conflict')) return error
  return new CofferdamError('LEDGER_CONTENDED', `could not ${describe}: others changed the ledger every time`, {
    cause: error,
  })
}
