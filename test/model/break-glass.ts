import type { DisruptionStep } from '@cofferdam/product/capabilities/drain-lock/domain/decision.ts'
import { entriesOf, type Ledger } from '@cofferdam/product/ledger/rules/ledger.ts'
import { drainerIndexes, isOver, requestIds } from './bounds.ts'
import { type Emit, type Model, withFate } from './model.ts'
import type { ModelState } from './state.ts'

type Break = DisruptionStep & { readonly step: 'break' }

/** Somebody breaks glass for a request that waits, and deletes one that can only stand still. */
export function emitPerson(model: Model, state: ModelState, emit: Emit): void {
  const { fates, glassesLeft, ledgerLossesLeft } = state.world.value
  for (const index of drainerIndexes) {
    const { phase } = state.drainers[index].value.record.value
    const { glass, broken, deletion } = fates[index]
    if (isOver(phase)) continue
    const id = requestIds[index]
    const isWaiting = phase === 'Pending' || phase === 'Waiting'
    if (glassesLeft > 0 && glass === 'off' && isWaiting)
      emit(
        () => `somebody breaks glass for ${id}`,
        withFate(model, state, index, { glass: 'on' }, { glassesLeft: glassesLeft - 1 }),
      )
    // Later it makes no difference to the ledger.
    if (glass === 'on' && isWaiting)
      emit(() => `break-glass of ${id} ends`, withFate(model, state, index, { glass: 'past' }))
    const mayBeStuck = broken.length > 0 || (model.bounds.ledgerLoss === 'restored' && ledgerLossesLeft === 0)
    if (mayBeStuck && deletion === 'no')
      emit(() => `somebody deletes ${id}`, withFate(model, state, index, { deletion: 'asked' }))
  }
}

/** Remembers what was taken from whoever had begun: only that is excused. */
export function withBroken(
  model: Model,
  state: ModelState,
  before: Ledger,
  { keys }: Break,
  breaker: string,
): ModelState {
  return drainerIndexes.reduce((next, index) => {
    if (requestIds[index] === breaker) return next
    const taken = entriesOf(before, requestIds[index])
      .filter((entry) => entry.state !== 'Granted' && keys.includes(entry.key))
      .map(({ key }) => key)
    if (taken.length === 0) return next
    const broken = [...new Set([...next.world.value.fates[index].broken, ...taken])].sort()
    return withFate(model, next, index, { broken })
  }, state)
}

/** What breaking keys must never do. */
export function breaksBadly(
  before: Ledger,
  after: Ledger,
  { keys, by, reason }: Break,
  breaker: string,
): string | undefined {
  const victims = new Set(
    before.entries
      .filter((entry) => entry.requestId !== breaker && keys.includes(entry.key))
      .map((entry) => entry.requestId),
  )
  for (const entry of before.entries) {
    const { key, requestId, holder, state } = entry
    const isTaken = requestId !== breaker && keys.includes(key)
    if (isTaken) {
      const isRecorded = after.broken.some(
        (each) => each.key === key && each.formerHolder === holder && each.by === by && each.reason === reason,
      )
      if (!isRecorded) return `I17 break-glass: ${key} of ${requestId} was taken and that is not on record`
      if (after.entries.includes(entry)) return `I17 break-glass: ${key} of ${requestId} was broken and is still held`
      continue
    }
    if (!victims.has(requestId)) {
      if (!after.entries.includes(entry)) return `I17 break-glass: ${key} of ${requestId} was not named`
      continue
    }
    const left = after.entries.find((each) => each.key === key && each.requestId === requestId)
    if (state !== 'Granted' && left === undefined)
      return `I17 break-glass: ${key} of ${requestId} is still felt and was freed`
    if (left !== undefined && left.state !== 'Orphaned') return `I17 break-glass: ${requestId} may go on with ${key}`
  }
  const isMissing = before.tickets.some(
    (ticket) => !after.tickets.includes(ticket) && !ticket.claims.some(({ key }) => keys.includes(key)),
  )
  if (isMissing) return 'I17 break-glass: somebody lost a place in the queue for nothing'
  return after.nextEpoch < before.nextEpoch ? 'I2 epochs: an epoch was given out again' : undefined
}
