import { describe, expect, it } from 'vitest'
import { emptyLedger, type Ledger } from '../../ledger/rules/ledger.ts'
import { known, unknown } from '../../shared/observed.ts'
import { decideNamespaceLabels, type NamespaceLabelDecision, type NamespaceLabelSnapshot } from './namespace-labels.ts'

const nowMs = 1_000_000
const holding = (...keys: string[]): Ledger => ({
  ...emptyLedger,
  nextEpoch: 2,
  entries: keys.map((key) => ({
    key,
    uid: 'u',
    scope: '',
    holder: 'operator-1',
    requestId: 'r',
    epoch: 1,
    state: 'Granted',
    since: '',
    renewSequence: 0,
  })),
})
const seen = (facts: Partial<NamespaceLabelSnapshot>): NamespaceLabelSnapshot => ({
  nowMs,
  namespaces: [],
  ledger: known(emptyLedger),
  ownNamespace: 'cofferdam-system',
  ...facts,
})
const shop = { name: 'shop', label: undefined, appLocksUntilMs: [] }
const labelled = { ...shop, label: 'true' }

const cases: Record<string, { given: NamespaceLabelSnapshot; then: NamespaceLabelDecision }> = {
  'a namespace without locks stays as it is': {
    given: seen({ namespaces: [shop] }),
    then: { set: [], remove: [], recheckAfterMs: undefined },
  },
  'a lock of an owner marks its namespace, until the lock ends': {
    given: seen({ namespaces: [{ ...shop, appLocksUntilMs: [nowMs + 60_000, nowMs + 5_000] }] }),
    then: { set: ['shop'], remove: [], recheckAfterMs: 5_000 },
  },
  'a lock that has ended marks nothing, and the mark goes': {
    given: seen({ namespaces: [{ ...labelled, appLocksUntilMs: [nowMs] }] }),
    then: { set: [], remove: ['shop'], recheckAfterMs: undefined },
  },
  'a budget that somebody holds in the ledger marks its namespace and no other': {
    given: seen({
      namespaces: [shop, { ...shop, name: 'bank' }],
      ledger: known(holding('pdb/shop/web', 'node/bank', 'storage/bank/bank')),
    }),
    then: { set: ['shop'], remove: [], recheckAfterMs: undefined },
  },
  'while the ledger cannot be read, no mark goes': {
    given: seen({ namespaces: [labelled], ledger: unknown('silent') }),
    then: { set: [], remove: [], recheckAfterMs: undefined },
  },
  'a mark that somebody falsified is set right': {
    given: seen({ namespaces: [{ ...shop, label: 'no' }], ledger: known(holding('pdb/shop/web')) }),
    then: { set: ['shop'], remove: [], recheckAfterMs: undefined },
  },
  'a mark that somebody set by hand goes': {
    given: seen({ namespaces: [{ ...shop, label: 'false' }] }),
    then: { set: [], remove: ['shop'], recheckAfterMs: undefined },
  },
  'the guard’s own namespace is never marked: its pods must be able to go without it': {
    given: seen({
      namespaces: [{ name: 'cofferdam-system', label: 'true', appLocksUntilMs: [] }],
      ledger: known(holding('pdb/cofferdam-system/cofferdam-operator')),
    }),
    then: { set: [], remove: ['cofferdam-system'], recheckAfterMs: undefined },
  },
}

describe('which namespaces are marked as locked', () => {
  it.each(Object.entries(cases))('%s', (_sentence, { given, then }) => {
    expect(decideNamespaceLabels(given)).toEqual(then)
  })
})
