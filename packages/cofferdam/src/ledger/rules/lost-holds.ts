import type { NodeDisruption } from '../../shared/kinds/node-disruption.ts'
import { type Claim, doClaimsConflict, onePerKey } from './claim.ts'
import { budgetKey, nodeKey } from './keys.ts'
import { entriesOf, type Ledger, type LedgerEntry, orphan, raiseEpoch, stepBack, withdraw } from './ledger.ts'

/** A request whose record says that its node may be away, though the ledger may know nothing of it. */
export interface ActedRecord {
  readonly requestId: string
  readonly name: string
  readonly nodeName: string
  readonly epoch: number
  readonly bootID: string | undefined
  /** The node and the budgets; what it holds of storage is not on record. */
  readonly claims: readonly Claim[]
}

const actedPhases: readonly string[] = ['Draining', 'Drained', 'Recovering']

/** Undefined for a request that has not acted, or has ended. */
export function parseActedRecord({ metadata, spec, status = {} }: NodeDisruption): ActedRecord | undefined {
  const { phase = 'Pending', epoch = 0, nodeUid = '', bootIDBefore, hasFallenBack } = status
  const { lockedBudgets = [], releasedBudgets = [] } = status
  if (!actedPhases.includes(phase) || epoch === 0) return undefined
  const released = releasedBudgets.map(budgetKey)
  const keys =
    hasFallenBack === true ? [] : lockedBudgets.map((budget) => ({ key: budgetKey(budget), uid: budget.uid }))
  return {
    requestId: metadata.uid as string,
    name: metadata.name,
    nodeName: spec.nodeName,
    epoch,
    bootID: bootIDBefore,
    claims: [
      { key: nodeKey(spec.nodeName), uid: nodeUid, scope: '' },
      ...keys.filter(({ key }) => !released.includes(key)).map(({ key, uid }) => ({ key, uid, scope: '' })),
    ],
  }
}

/** A stored ledger, held against what is on record of the epochs that it gave out. */
export interface RecalledLedger {
  /** With an epoch above all that were ever seen. */
  readonly ledger: Ledger
  /** The stored one is behind epochs that were given out: it was deleted, or put back as it once was. */
  readonly isBehind: boolean
  /** What has been done and is not in it; nothing may be granted before it is. */
  readonly lost: readonly ActedRecord[]
}

export function recallLedger(
  ledger: Ledger,
  { epochs, disruptions }: { readonly epochs: readonly number[]; readonly disruptions: readonly NodeDisruption[] },
): RecalledLedger {
  const raised = raiseAbove(ledger, [...epochs, ...disruptions.map(({ status }) => status?.epoch ?? 0)])
  const isBehind = raised !== ledger
  const acted = disruptions.map(parseActedRecord).filter((record) => record !== undefined)
  return { ledger: raised, isBehind, lost: isBehind ? findLostHolds(raised, acted) : [] }
}

export function raiseAbove(ledger: Ledger, epochs: readonly number[]): Ledger {
  return epochs.reduce((raised, epoch) => raiseEpoch(raised, epoch), ledger)
}

/**
 * Which of them the ledger has forgotten: what it has of them, if anything, is of an earlier grant, which may have been for less. To be
 * asked only of a ledger that is behind the epochs of the records.
 */
export function findLostHolds(ledger: Ledger, records: readonly ActedRecord[]): readonly ActedRecord[] {
  return records.filter((record) => isLost(ledger, record))
}

function isLost(ledger: Ledger, { requestId, epoch }: ActedRecord): boolean {
  return entriesOf(ledger, requestId).every((entry) => entry.state === 'Granted' && entry.epoch < epoch)
}

/**
 * Enters again what was held: as orphans, so that the request itself has to adopt them, or they are purged when their effect
 * has ended.
 *
 * Guarantees: no epoch of a record is given out again; whoever was granted one of the keys meanwhile and has not acted loses
 * everything but its place in the queue; whoever has acted meanwhile keeps it, for the key cannot have two holders. Of two grants of the same
 * key the later one has it, on record or in the ledger: the earlier one had released it, and had not come to say so or was put back.
 */
export function restoreHolds(ledger: Ledger, lost: readonly ActedRecord[], now: string): Ledger {
  return lost.reduce<Ledger>((before, record) => restoreHold(before, record, now), ledger)
}

function restoreHold(ledger: Ledger, record: ActedRecord, now: string): Ledger {
  if (!isLost(ledger, record)) return ledger
  const { requestId, name, epoch, bootID, claims } = record
  const wanted = onePerKey(claims)
  const isWanted = (entry: LedgerEntry) => wanted.some((claim) => doClaimsConflict(entry, claim))
  const without = orphan(raiseEpoch(withdraw(ledger, requestId), epoch), requestId)
  const granted = without.entries.filter((entry) => entry.state === 'Granted' && isWanted(entry))
  const waiting = granted.reduce(backInQueue, without)
  const isPutBack = (entry: LedgerEntry) => entry.epoch < epoch && isWanted(entry)
  const freed = { ...waiting, entries: waiting.entries.filter((entry) => !isPutBack(entry)) }
  const restored = wanted
    .filter((claim) => !freed.entries.some((entry) => doClaimsConflict(entry, claim)))
    .map(({ key, uid, scope }): LedgerEntry => {
      const holder = `rebuilt from nodedisruption/${name}`
      const boot = key.startsWith('node/') && bootID !== undefined ? { bootID } : {}
      return { key, uid, scope, holder, requestId, epoch, state: 'Orphaned', since: now, renewSequence: 0, ...boot }
    })
  return { ...freed, entries: [...freed.entries, ...restored] }
}

function backInQueue(ledger: Ledger, { requestId, epoch }: LedgerEntry): Ledger {
  const back = stepBack(ledger, { requestId, epoch })
  // Freed already, with another of its keys.
  return back.ok ? back.ledger : ledger
}
