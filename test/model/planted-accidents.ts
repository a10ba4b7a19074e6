import { doClaimsConflict, isLimit } from '@cofferdam/product/ledger/rules/claim.ts'
import { entriesOf, type Ledger, type LedgerEntry } from '@cofferdam/product/ledger/rules/ledger.ts'
import { known } from '@cofferdam/product/shared/observed.ts'
import { nowMs, realParts, tickMs } from './bounds.ts'
import { decideOn, type PlantedBug } from './planted-bug.ts'
import {
  brokenGlass,
  limitedDrains,
  oneDrain,
  remadeBudget,
  remadeBudgetOfTwo,
  remadeNode,
  restoredDrains,
  wipedLedger,
} from './stories.ts'

function isOnlyGranted(ledger: Ledger, requestId: string): boolean {
  const held = entriesOf(ledger, requestId)
  return held.length > 0 && held.every(({ state }) => state === 'Granted')
}

function withoutPlace({ place: _place, ...entry }: LedgerEntry): LedgerEntry {
  return entry
}

/** Mistakes about break-glass, a ledger that was lost, and what is made again under its name. */
export const plantedAccidents = {
  'break-glass leaves no record': {
    parts: {
      ...realParts,
      breakLocks: (ledger, order) => ({ ...realParts.breakLocks(ledger, order), broken: ledger.broken }),
    },
    bounds: brokenGlass,
  },
  'whoever lost a key by break-glass keeps its epoch': {
    parts: {
      ...realParts,
      breakLocks: (ledger, order) => {
        const { broken, tickets } = realParts.breakLocks(ledger, order)
        const isTaken = ({ key, requestId }: Ledger['entries'][number]) =>
          requestId !== order.sparing && order.keys.includes(key)
        return { ...ledger, broken, tickets, entries: ledger.entries.filter((entry) => !isTaken(entry)) }
      },
    },
    bounds: brokenGlass,
  },
  'break-glass takes everything from whoever it takes a key from': {
    parts: {
      ...realParts,
      breakLocks: (ledger, order) => {
        const broken = realParts.breakLocks(ledger, order)
        const victims = new Set(
          ledger.entries.filter(({ key }) => order.keys.includes(key)).map(({ requestId }) => requestId),
        )
        return { ...broken, entries: broken.entries.filter(({ requestId }) => !victims.has(requestId)) }
      },
    },
    bounds: brokenGlass,
  },
  'a drain does not ask which of its keys were broken': {
    parts: {
      ...realParts,
      decideDisruption: decideOn((seen) => {
        if (!seen.ledger.known) return seen
        const ledger = seen.ledger.value
        const [first, ...more] = entriesOf(ledger, seen.request.id)
        if (first === undefined || more.length === 0) return seen
        const taken = ledger.broken.filter(({ key }) => !more.some((entry) => entry.key === key))
        const kept = taken.map(({ key }) => ({ ...first, key }))
        return { ...seen, ledger: known({ ...ledger, entries: [...ledger.entries, ...kept] }) }
      }),
    },
    bounds: brokenGlass,
  },
  'break-glass never ends': {
    parts: {
      ...realParts,
      decideDisruption: decideOn((seen) => {
        const { breakGlass } = seen.request
        const lasting = breakGlass && { ...breakGlass, untilMs: nowMs + tickMs }
        return { ...seen, request: { ...seen.request, breakGlass: lasting } }
      }),
    },
    bounds: brokenGlass,
  },
  'a ledger that was deleted is an empty one': {
    parts: { ...realParts, recallLedger: (ledger) => ({ ledger, isBehind: false, lost: [] }) },
    bounds: wipedLedger,
  },
  'epochs are raised, and what was held is not missed': {
    parts: {
      ...realParts,
      recallLedger: (ledger, seen) => ({ ...realParts.recallLedger(ledger, seen), lost: [] }),
    },
    bounds: wipedLedger,
  },
  'the storage of what was lost is not entered again': {
    parts: {
      ...realParts,
      restoreHolds: (ledger, lost, now) =>
        realParts.restoreHolds(
          ledger,
          lost.map((each) => ({ ...each, claims: each.claims.filter(({ key }) => !key.startsWith('storage/')) })),
          now,
        ),
    },
    bounds: { ...oneDrain, name: 'a drain, and a ledger that is deleted', ledgerLoss: 'wiped' },
  },
  'of two records the earlier one gets the key': {
    parts: {
      ...realParts,
      restoreHolds: (ledger, lost, now) => {
        const left = lost.map((each) => {
          const earlier = lost.filter(({ epoch }) => epoch < each.epoch).flatMap(({ claims }) => claims)
          return {
            ...each,
            claims: each.claims.filter((claim) => !earlier.some((other) => doClaimsConflict(other, claim))),
          }
        })
        return realParts.restoreHolds(ledger, left, now)
      },
    },
    bounds: wipedLedger,
  },
  'a ledger that was lost is never rebuilt': {
    parts: {
      ...realParts,
      decideUpkeep: (seen) => ({ ...realParts.decideUpkeep(seen), steps: [] }),
    },
    bounds: { ...oneDrain, name: 'a drain, and a ledger that is deleted', ledgerLoss: 'wiped' },
  },
  'a key stays with whoever was put back with the ledger': {
    parts: {
      ...realParts,
      restoreHolds: (ledger, lost, now) => {
        const acted = ledger.entries.filter(({ state }) => state !== 'Granted')
        const left = lost.map((each) => ({
          ...each,
          claims: each.claims.filter((claim) => !acted.some((entry) => doClaimsConflict(entry, claim))),
        }))
        return realParts.restoreHolds(ledger, left, now)
      },
    },
    bounds: restoredDrains,
  },
  'a drain whose intent was lost begins anew': {
    parts: {
      ...realParts,
      decideDisruption: decideOn((seen) => {
        const { record } = seen.request
        const hasBegun = record.phase === 'Draining' || record.phase === 'Drained'
        const isLost = hasBegun && seen.ledger.known && isOnlyGranted(seen.ledger.value, seen.request.id)
        return isLost ? { ...seen, request: { ...seen.request, record: { ...record, epoch: undefined } } } : seen
      }),
    },
    bounds: restoredDrains,
  },
  'whoever needs something else than it was granted goes to the end of the queue': {
    parts: {
      ...realParts,
      grant: (ledger, request) => {
        const isOwn = ({ requestId }: LedgerEntry) => requestId === request.requestId
        const entries = ledger.entries.map((entry) => (isOwn(entry) ? withoutPlace(entry) : entry))
        return realParts.grant({ ...ledger, entries }, request)
      },
    },
    bounds: remadeBudgetOfTwo,
  },
  'a limit is checked before the grant and not within it': {
    parts: {
      ...realParts,
      grant: (ledger, request) => {
        const claims = request.claims.map((claim) => (isLimit(claim) ? { ...claim, most: 9 } : claim))
        return realParts.grant(ledger, { ...request, claims })
      },
    },
    bounds: { ...limitedDrains, ledgerLoss: 'never' },
  },
  'a node that is held without a place is counted when its cordon is seen': {
    parts: {
      ...realParts,
      decideDisruption: decideOn((seen) =>
        seen.limits.known
          ? { ...seen, limits: known(seen.limits.value.map((limit) => ({ ...limit, open: new Set<string>() }))) }
          : seen,
      ),
    },
    bounds: limitedDrains,
  },
  'a node is known by its name': {
    parts: {
      ...realParts,
      decideDisruption: decideOn((seen) => {
        const { nodeUid } = seen.request.record
        return { ...seen, node: seen.node && { ...seen.node, uid: nodeUid ?? seen.node.uid } }
      }),
    },
    bounds: remadeNode,
  },
  'a node that was made again is no node': {
    parts: {
      ...realParts,
      decideDisruption: decideOn((seen) => {
        const { nodeUid } = seen.request.record
        return { ...seen, node: nodeUid === undefined || nodeUid === seen.node?.uid ? seen.node : undefined }
      }),
    },
    bounds: remadeNode,
  },
  'the guard asks for the very budget that was locked': {
    parts: {
      ...realParts,
      decideEviction: (question) => {
        const { ledger, budgets } = question
        if (!ledger.known || !budgets.known) return realParts.decideEviction(question)
        const uids = budgets.value.map(({ uid }) => uid)
        const entries = ledger.value.entries.filter(({ key, uid }) => !key.startsWith('pdb/') || uids.includes(uid))
        return realParts.decideEviction({ ...question, ledger: known({ ...ledger.value, entries }) })
      },
    },
    bounds: remadeBudget,
  },
} satisfies Record<string, PlantedBug>
