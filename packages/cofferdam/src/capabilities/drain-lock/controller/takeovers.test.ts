import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { describe, expect, it } from 'vitest'
import { emptyLedger, type Ledger, type LedgerEntry } from '../../../ledger/rules/ledger.ts'
import { Takeovers } from './takeovers.ts'

const silentMs = 60_000
const we = { id: 'R1', holder: 'we' }

function heldBy(holder: string, epoch: number, more: Partial<LedgerEntry> = {}): Ledger {
  const entry = {
    key: 'node/a',
    uid: 'u',
    scope: '',
    since: '',
    renewSequence: 0,
    state: 'Acting',
    requestId: 'R1',
  } as const
  return { ...emptyLedger, nextEpoch: epoch + 1, entries: [{ ...entry, holder, epoch, ...more }] }
}

interface Look {
  readonly afterMs?: number
  readonly ledger: Ledger
}

const cases: Record<string, { readonly looks: readonly Look[]; readonly replaced: readonly boolean[] }> = {
  'a process that never held the request carries on what another held': {
    looks: [{ ledger: heldBy('another', 1) }],
    replaced: [false],
  },
  'a process from which it was taken does not take it back: its successor would be void, and would take it back in turn':
    {
      looks: [{ ledger: heldBy('we', 1) }, { ledger: heldBy('another', 2) }, { ledger: heldBy('another', 2) }],
      replaced: [false, true, true],
    },
  'a successor that shows no sign of life is gone too': {
    looks: [
      { ledger: heldBy('we', 1) },
      { ledger: heldBy('another', 2) },
      { afterMs: silentMs - 1, ledger: heldBy('another', 2) },
      { afterMs: 1, ledger: heldBy('another', 2) },
    ],
    replaced: [false, true, true, false],
  },
  'a successor that renews is waited for, however long it takes': {
    looks: [
      { ledger: heldBy('we', 1) },
      { ledger: heldBy('another', 2) },
      { afterMs: silentMs, ledger: heldBy('another', 2, { renewSequence: 1 }) },
      { afterMs: silentMs - 1, ledger: heldBy('another', 2, { renewSequence: 1 }) },
    ],
    replaced: [false, true, true, true],
  },
  'what nobody looks after any more is carried on by whoever is there': {
    looks: [{ ledger: heldBy('we', 1) }, { ledger: heldBy('another', 2, { state: 'Orphaned' }) }],
    replaced: [false, false],
  },
  'a ledger that somebody set back to an earlier holder is no takeover': {
    looks: [{ ledger: heldBy('we', 2) }, { ledger: heldBy('another', 1) }],
    replaced: [false, false],
  },
  'a request of which nothing is held is anybody’s': {
    looks: [{ ledger: heldBy('we', 1) }, { ledger: emptyLedger }],
    replaced: [false, false],
  },
}

describe('a process that may have been replaced', () => {
  it.each(Object.entries(cases))('%s', async (_, { looks, replaced }) => {
    const clock = new VirtualClock()
    const takeovers = new Takeovers(clock, silentMs)
    const answers: boolean[] = []
    for (const { afterMs = 0, ledger } of looks) {
      await clock.advance(afterMs)
      answers.push(takeovers.isReplaced(ledger, we))
    }
    expect(answers).toEqual(replaced)
  })

  it('waits no longer for a silent successor when the clock was turned back: nobody would finish the drain for a day', () => {
    const clock = { ms: 86_400_000 }
    const takeovers = new Takeovers({ now: () => clock.ms }, silentMs)
    takeovers.note('R1', 1)
    expect(takeovers.isReplaced(heldBy('another', 2), we)).toBe(true)
    clock.ms = 0
    expect(takeovers.isReplaced(heldBy('another', 2), we)).toBe(true)
    clock.ms = silentMs
    expect(takeovers.isReplaced(heldBy('another', 2), we)).toBe(false)
  })

  it('knows what it was granted before it has seen it in the ledger', () => {
    const takeovers = new Takeovers(new VirtualClock(), silentMs)
    takeovers.note('R1', 1)
    expect(takeovers.isReplaced(heldBy('another', 2), we)).toBe(true)
    takeovers.forget('R1')
    expect(takeovers.isReplaced(heldBy('another', 2), we)).toBe(false)
  })
})
