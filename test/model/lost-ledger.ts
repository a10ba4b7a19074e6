import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { emptyLedger, entriesOf, type Ledger } from '@cofferdam/product/ledger/rules/ledger.ts'
import type { RecalledLedger } from '@cofferdam/product/ledger/rules/lost-holds.ts'
import type { NodeDisruption } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { known } from '@cofferdam/product/shared/observed.ts'
import {
  type DrainerIndex,
  drainerIndexes,
  nodeNames,
  nowMs,
  requestIds,
  storageKey,
  storageUid,
  tickMs,
  zones,
} from './bounds.ts'
import { type Emit, type Model, withFate, withLedger, withWorld } from './model.ts'
import type { Forgotten, ModelState } from './state.ts'

/** The ledger as every process reads it: held against the records and the marks on budgets. */
export function readLedger(model: Model, state: ModelState): RecalledLedger {
  const ledger = state.ledger.value
  if (model.bounds.ledgerLoss === 'never') return { ledger, isBehind: false, lost: [] }
  const { drainers, budgets, world } = state
  const marks = budgets.map(({ value }) => value.hold?.epoch ?? 0)
  const deleted = world.value.fates.map(({ deletion }) => deletion === 'gone')
  const key = `${state.ledger.id}/${drainers.map(({ value }) => value.record.id).join()}/${marks.join()}/${deleted.join()}`
  const before = model.recalled.get(key)
  if (before !== undefined) return before
  const disruptions = drainerIndexes.filter((index) => !deleted[index]).map((index) => disruptionOf(state, index))
  const recalled = model.parts.recallLedger(ledger, { epochs: marks, disruptions })
  model.recalled.set(key, recalled)
  return recalled
}

function disruptionOf({ drainers }: ModelState, index: DrainerIndex): NodeDisruption {
  const { phase, epoch, nodeUid, bootIDBefore, lockedBudgets, releasedBudgets, hasFallenBack } =
    drainers[index].value.record.value
  return {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name: requestIds[index], uid: requestIds[index] },
    spec: { nodeName: nodeNames[index], intent: 'Reboot', honourSkipDrain: true },
    status: {
      phase,
      lockedBudgets: [...lockedBudgets],
      releasedBudgets: [...releasedBudgets],
      hasFallenBack,
      ...(epoch === undefined ? {} : { epoch }),
      ...(nodeUid === undefined ? {} : { nodeUid }),
      ...(bootIDBefore === undefined ? {} : { bootIDBefore }),
    },
  }
}

/**
 * Somebody deletes the ledger, or puts it back as it was. Not in the very moment in which a process writes that its node may go: two
 * objects cannot be written at once.
 */
export function emitLedgerLoss(model: Model, state: ModelState, emit: Emit): void {
  const { ledgerLossesLeft, backup } = state.world.value
  if (ledgerLossesLeft === 0 || drainerIndexes.some((index) => isSayingSo(state, index))) return
  const lose = (label: string, ledger: Ledger) => {
    if (ledger === state.ledger.value) return
    const lost = withWorld(model, withLedger(model, state, ledger), { ledgerLossesLeft: 0, backup: undefined })
    emit(() => label, withForgotten(model, state.ledger.value, lost), { isFault: true })
  }
  if (model.bounds.ledgerLoss === 'wiped') lose('somebody deletes the ledger', emptyLedger)
  else if (backup !== undefined) lose('somebody puts the ledger back as it was', backup.value)
  else emit(() => 'somebody copies the ledger', withWorld(model, state, { backup: state.ledger }))
}

function isSayingSo({ drainers }: ModelState, index: DrainerIndex): boolean {
  const { steps } = drainers[index].value.work
  return steps.some(
    ({ value }) => (value.step === 'record' || value.step === 'close') && value.record.phase === 'Drained',
  )
}

/** Before the record says that it has begun nothing was done, whatever the ledger said. */
function withForgotten(model: Model, before: Ledger, after: ModelState): ModelState {
  return drainerIndexes.reduce((state, index) => {
    const { phase } = after.drainers[index].value.record.value
    if (phase !== 'Draining' && phase !== 'Drained' && phase !== 'Recovering') return state
    const forgotten = forgottenOf(before, after.ledger.value, requestIds[index])
    return forgotten === 'no' ? state : withFate(model, state, index, { forgotten })
  }, after)
}

function forgottenOf(before: Ledger, after: Ledger, requestId: string): Forgotten {
  const acted = entriesOf(before, requestId).filter((entry) => entry.state !== 'Granted')
  const left = entriesOf(after, requestId)
  if (acted.some(({ key }) => !left.some((entry) => entry.key === key))) return 'lost'
  return acted.length > 0 && left.some((entry) => entry.state === 'Granted') ? 'demoted' : 'no'
}

/** What was forgotten is known again as soon as the request holds something that it has begun, or nothing that it could. */
export function withRemembered(model: Model, state: ModelState): ModelState {
  return drainerIndexes.reduce((next, index) => {
    if (next.world.value.fates[index].forgotten === 'no') return next
    const held = entriesOf(next.ledger.value, requestIds[index])
    const isKnown = held.length > 0 && held.every((entry) => entry.state !== 'Granted')
    return isKnown ? withFate(model, next, index, { forgotten: 'no' }) : next
  }, state)
}

/** The keeper of the ledger enters again what the records say. */
export function emitRestore(model: Model, state: ModelState, emit: Emit): void {
  if (model.bounds.ledgerLoss === 'never' || !isRestoreDue(model, state)) return
  const { ledger, lost } = readLedger(model, state)
  const whole = lost.map((record) => {
    const index = requestIds.indexOf(record.requestId as (typeof requestIds)[number]) as DrainerIndex
    return { ...record, claims: [...record.claims, { key: storageKey, uid: storageUid, scope: zones[index] }] }
  })
  const restored = lost.length === 0 ? ledger : model.parts.restoreHolds(ledger, whole, rfc3339(nowMs))
  const names = lost.map(({ name }) => name).join(' and ')
  const next = withRemembered(model, withLedger(model, state, restored))
  emit(() => `the keeper of the ledger enters again what is on record of ${names}`, next)
}

export function isRestoreDue({ parts, bounds }: Model, { ledger, drainers }: ModelState): boolean {
  if (bounds.ledgerLoss === 'never') return false
  const { steps } = parts.decideUpkeep({
    ledger: known(ledger.value),
    epochs: drainers.map(({ value }) => value.record.value.epoch ?? 0),
    orphans: { living: new Set(), vanished: new Set(), heartbeats: new Map(), renewMs: tickMs, facts: new Map() },
    isAsked: false,
    restored: undefined,
    isRestoreReported: false,
    settled: undefined,
  })
  return steps.some((step) => step.do === 'hold' && step.what === 'restore')
}

/** Nothing is begun while the ledger does not know what is under way. */
export function beginsBlindly(
  state: ModelState,
  before: Ledger,
  after: Ledger,
  index: DrainerIndex,
): string | undefined {
  const other = index === 0 ? 1 : 0
  if (state.world.value.fates[other].forgotten !== 'lost') return undefined
  const has = (ledger: Ledger) =>
    entriesOf(ledger, requestIds[index]).filter((entry) => entry.state === 'Acting').length
  const isBegun =
    has(after) > has(before) || entriesOf(after, requestIds[index]).length > entriesOf(before, requestIds[index]).length
  return isBegun
    ? `I18 forgotten: ${requestIds[index]} begins while the ledger has forgotten ${requestIds[other]}`
    : undefined
}
