import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { heartbeat, type KeyFacts } from '@cofferdam/product/capabilities/drain-lock/domain/orphans.ts'
import type { Claim } from '@cofferdam/product/ledger/rules/claim.ts'
import { entriesOf } from '@cofferdam/product/ledger/rules/ledger.ts'
import {
  drainerIndexes,
  fencerId,
  isOver,
  nodeNames,
  nowMs,
  requestIds,
  storageKey,
  storageUid,
  tickMs,
  zones,
} from './bounds.ts'
import { changesBadly } from './invariants.ts'
import { type Emit, type Model, withLedger, withNode, withWorld } from './model.ts'
import { storageFacts } from './observe.ts'
import type { Fencer, ModelState } from './state.ts'

const claims: readonly Claim[] = [
  { key: 'node/node-2', uid: nodeNames[2], scope: '' },
  { key: storageKey, uid: storageUid, scope: zones[2] },
]

/**
 * Takes node-2 down with keys from the same ledger. It closes the node before it tells its intent, so that whoever looks
 * after its keys sees that something is under way, and looks anew when it was silent.
 */
export function emitFencer(model: Model, state: ModelState, emit: Emit): void {
  const { fencer, crashesLeft, nodes } = state.world.value
  if (!model.bounds.hasFencer || fencer.at === 'done') return
  if (fencer.isSilent) {
    const at = fencer.at === 'fenced' ? fencer.at : 'idle'
    emit(() => 'the fencer wakes up', step(model, state, { isSilent: false, unchanged: 0, at }))
    const isOrphaned = entriesOf(state.ledger.value, fencerId).some((entry) => entry.state === 'Orphaned')
    if (isOrphaned && nodes[2].isUp && nodes[2].cordonedBy !== '')
      emit(() => 'somebody opens node-2 again', withNode(model, state, 2, { cordonedBy: '' }))
    return
  }
  emitNextOf(model, state, emit)
  if (crashesLeft[2] > 0) {
    const silent = step(model, state, { isSilent: true, unchanged: 0 })
    const left: [number, number, number] = [crashesLeft[0], crashesLeft[1], crashesLeft[2] - 1]
    emit(() => 'the fencer falls silent', withWorld(model, silent, { crashesLeft: left }), { isFault: true })
  }
}

function emitNextOf(model: Model, state: ModelState, emit: Emit): void {
  const { fencer, nodes, isDirty } = state.world.value
  const { parts } = model
  const { value: ledger } = state.ledger
  const by = { requestId: fencerId, epoch: fencer.epoch }
  switch (fencer.at) {
    case 'idle': {
      if (isDirty[0] && !entriesOf(ledger, fencerId).some((entry) => entry.state !== 'Granted')) {
        const without = parts.withdraw(ledger, fencerId)
        if (without !== ledger) emit(() => 'the fencer withdraws', withLedger(model, state, without))
        return
      }
      const answer = parts.grant(ledger, { ...by, holder: 'fencer', claims, now: rfc3339(nowMs) })
      const told = {
        violation: changesBadly(ledger, answer.ledger, { requestId: fencerId, step: 'take', epoch: undefined }),
      }
      const next = withLedger(model, state, answer.ledger)
      if (answer.granted) {
        const closed = nodes[2].cordonedBy === '' ? withNode(model, next, 2, { cordonedBy: fencerId }) : next
        emit(
          () => 'the fencer takes its keys and closes node-2',
          step(model, closed, { at: 'cordoned', epoch: answer.epoch }),
          told,
        )
      } else if (next !== state) emit(() => 'the fencer waits with a ticket', next, told)
      return
    }
    case 'cordoned': {
      const intended = parts.intend(ledger, { ...by, bootID: `boot${nodes[2].boots}` })
      const next = withLedger(model, state, intended.ok ? intended.ledger : ledger)
      const violation = changesBadly(ledger, next.ledger.value, { ...by, step: 'intend' })
      emit(
        () => `the fencer tells its intent${intended.ok ? '' : ', and is refused'}`,
        step(model, next, intended.ok ? { at: 'acting' } : { at: 'idle', epoch: 0 }),
        { violation },
      )
      return
    }
    case 'acting': {
      if (nodes[2].boots > 0) {
        emit(() => 'node-2 has been fenced already', step(model, state, { at: 'fenced' }))
        return
      }
      const held = entriesOf(ledger, fencerId)
      const isHeld = held.length === claims.length && held.every((entry) => entry.state !== 'Granted')
      const next = withNode(model, state, 2, { isUp: false }, { isDirty: [isDirty[0], true] })
      emit(() => 'the fencer cuts node-2 off', step(model, next, { at: 'fenced' }), {
        violation: isHeld ? undefined : 'I12 fencing: a node was cut off whose keys nobody held',
      })
      return
    }
    default: {
      if (!nodes[2].isUp || isDirty[1]) return
      const held = entriesOf(ledger, fencerId)
      if (held.some((entry) => entry.state === 'Orphaned')) {
        const answer = parts.grant(ledger, { ...by, holder: 'fencer', claims, now: rfc3339(nowMs) })
        if (!answer.granted) return
        emit(
          () => 'the fencer adopts its keys',
          step(model, withLedger(model, state, answer.ledger), { epoch: answer.epoch }),
        )
        return
      }
      const released = parts.release(ledger, by)
      const opened = withNode(model, state, 2, { cordonedBy: '' })
      const next = withLedger(model, opened, released.ok ? released.ledger : ledger)
      const violation = changesBadly(ledger, next.ledger.value, { ...by, step: 'release' })
      emit(() => 'the fencer opens node-2 and gives its keys back', step(model, next, { at: 'done', epoch: 0 }), {
        violation,
      })
    }
  }
}

function step(model: Model, state: ModelState, change: Partial<Fencer>): ModelState {
  return withWorld(model, state, { fencer: { ...state.world.value.fencer, ...change } })
}

/** It has gone as far as it can: it waits for others, or is silent. */
export function isFencerDone(state: ModelState): boolean {
  const { fencer, nodes, isDirty } = state.world.value
  if (fencer.isSilent || fencer.at === 'done') return true
  if (fencer.at === 'fenced') return !(nodes[2].isUp && !isDirty[1])
  if (fencer.at !== 'idle') return false
  return isDirty[0] || state.ledger.value.tickets.some(({ requestId }) => requestId === fencerId)
}

/** What vanished holders left: the keeper of the ledger looks and writes in one moment, for its write is compared and swapped. */
export function emitKeeper(model: Model, state: ModelState, emit: Emit): void {
  const { value: ledger } = state.ledger
  const { fencer, nodes } = state.world.value
  if (!fencer.isSilent || (ledger.entries.length === 0 && ledger.tickets.length === 0)) return
  const living = new Set<string>()
  for (const index of drainerIndexes) {
    if (!isOver(state.drainers[index].value.record.value.phase)) living.add(requestIds[index])
  }
  const { isUp, cordonedBy, boots } = nodes[2]
  const { uid, isClean } = storageFacts(state.world.value, 2)
  const facts = new Map<string, KeyFacts>([
    [
      'node/node-2',
      {
        kind: 'node',
        node: { uid: nodeNames[2], bootID: `boot${boots}`, isReady: isUp, isCordoned: cordonedBy !== '' },
      },
    ],
    [storageKey, { kind: 'storage', storage: { uid, isClean } }],
  ])
  const heartbeats = new Map([
    [fencerId, { beat: heartbeat(ledger, fencerId), unchangedMs: fencer.unchanged * tickMs }],
  ])
  const decisions = model.parts.decideOrphans({
    ledger,
    living,
    vanished: new Set(),
    heartbeats,
    renewMs: tickMs,
    facts,
  })
  const after = model.parts.applyOrphans(ledger, decisions)
  if (after === ledger) return
  const next = withLedger(model, state, after)
  const words = decisions.map(({ step: what, requestId }) => `${what} ${requestId}`).join(', ')
  emit(() => `the keeper of the ledger: ${words}`, next)
}
