import { describe, expect, it } from 'vitest'
import { emptyLedger, grant, intend, type Ledger, orphan } from '../../../ledger/rules/ledger.ts'
import { known, unknown } from '../../../shared/observed.ts'
import { decideUpkeep, type UpkeepSnapshot } from './decide-upkeep.ts'
import type { KeyFacts } from './orphans.ts'
import type { UpkeepStep } from './upkeep-steps.ts'

const claims = [{ key: 'node/a', uid: 'node-uid', scope: '' }]
const granted = grant(emptyLedger, { requestId: 'R1', holder: 'op', claims, now: '2026-01-01T00:00:00Z' }).ledger
const begun = intend(granted, { requestId: 'R1', epoch: 1, bootID: 'boot-1' })
const orphaned: Ledger = orphan(begun.ok ? begun.ledger : emptyLedger, 'R1')
const backAgain: KeyFacts = {
  kind: 'node',
  node: { uid: 'node-uid', bootID: 'boot-2', isReady: true, isCordoned: true },
}

const seen = (ledger: Ledger, change: Partial<UpkeepSnapshot> = {}, facts = new Map<string, KeyFacts>()) => ({
  ledger: known(ledger),
  epochs: [],
  orphans: {
    living: new Set<string>(),
    vanished: new Set<string>(),
    heartbeats: new Map([['R1', { beat: undefined, unchangedMs: 0 }]]),
    renewMs: 20_000,
    facts,
  },
  isAsked: false,
  restored: undefined,
  isRestoreReported: false,
  settled: undefined,
  ...change,
})

function inWords(step: UpkeepStep): string {
  if (step.do === 'ask') return `ask ${step.keys.map(({ key }) => key).join(', ')}`
  if (step.do === 'hold') return step.what
  if (step.do === 'write') return `undo ${step.entries.map(({ key }) => key).join(', ')}`
  return step.event === undefined ? 'clear' : `report ${step.event.reason}`
}

const cases: Record<string, { given: UpkeepSnapshot; then: string[] }> = {
  'a ledger that makes no sense is told of, and nothing is done': {
    given: { ...seen(orphaned), ledger: unknown('it has two holders of node/a') },
    then: ['report LedgerUnusable'],
  },
  'a ledger that is behind the records is rebuilt before anything else': {
    given: seen(granted, { epochs: [9] }),
    then: ['clear', 'restore'],
  },
  'it is rebuilt once in a pass, though the copy at hand does not show it yet': {
    given: seen(granted, { epochs: [9], restored: ['reboot-a'] }),
    then: ['clear', 'report LedgerRebuilt'],
  },
  'nothing is freed on a copy: what is behind the keys is asked for first': {
    given: seen(orphaned),
    then: ['clear', 'ask node/a'],
  },
  'the cordon of a vanished holder is lifted before its node is free: nobody would ever lift it afterwards': {
    given: seen(orphaned, { isAsked: true }, new Map([['node/a', backAgain]])),
    then: ['clear', 'undo node/a', 'settle'],
  },
  'what the ledger was made to say is told, and not done twice': {
    given: seen(orphaned, {
      isAsked: true,
      settled: [
        {
          step: 'purge',
          requestId: 'R1',
          holder: 'op',
          keys: ['node/a'],
          reason: 'OrphanBuried',
          explanation: 'ended',
        },
      ],
    }),
    then: ['clear', 'report OrphanBuried'],
  },
}

describe('the steps of a pass over the ledger', () => {
  it.each(Object.entries(cases))('%s', (_sentence, { given, then }) => {
    expect(decideUpkeep(given).steps.map(inWords)).toEqual(then)
  })
})
