import { describe, expect, it } from 'vitest'
import { entry, ledgerOf, minutes, nowMs, other } from '../../capabilities/drain-lock/domain/testing/fixture.ts'
import { known, unknown } from '../../shared/observed.ts'
import { decideEviction, type EvictionPod, type EvictionSnapshot } from './decide-eviction.ts'
import { emptyLedger, type Ledger } from './ledger.ts'

const operator = 'system:serviceaccount:cofferdam-system:cofferdam'
const pod: EvictionPod = {
  namespace: 'shop',
  name: 'web-1',
  uid: 'web-1-1',
  nodeName: 'node-a',
  isLeaving: false,
  isCounted: true,
}
const budget = { namespace: 'shop', name: 'web', uid: 'web-1', appLock: undefined }
const locked = {
  ...budget,
  appLock: { holder: 'bob', reason: 'rebalance', sinceMs: nowMs, writtenMs: nowMs, untilMs: nowMs + minutes(120) },
}
const acting: Ledger = ledgerOf(entry('node/node-a', { state: 'Acting' }), entry('pdb/shop/web', { state: 'Acting' }))
const token = { requestId: 'R1', epoch: 1 }
const glass = { by: 'eve', reason: 'outage', untilMs: nowMs + 1 }

const osd = known({ ...pod, namespace: 'rook', failureDomains: ['zone-b'] })
const secondDomain = known(
  ledgerOf(
    entry('node/node-a', { state: 'Acting' }),
    entry('storage/rook/ceph', { requestId: 'R2', state: 'Acting', scope: 'zone-a', epoch: 2 }),
  ),
)

const calm: EvictionSnapshot = {
  nowMs,
  target: { namespace: 'shop', name: 'web-1' },
  pod: known(pod),
  budgets: known([budget]),
  ledger: known(emptyLedger),
  token: undefined,
  asker: operator,
  operatorUser: known(operator),
  breakGlass: undefined,
  isStrict: false,
  dryRun: false,
}

function table(name: string, rows: Record<string, { given: Partial<EvictionSnapshot>; then: string }>): void {
  describe(name, () => {
    it.each(Object.entries(rows))('%s', (_sentence, { given, then }) => {
      const verdict = decideEviction({ ...calm, ...given })
      expect(`${verdict.allowed ? 'allowed' : 'refused'} ${verdict.reason}`).toBe(then)
      expect(decideEviction({ ...calm, ...given, dryRun: true })).toEqual(verdict)
    })
  })
}

table('what is let through', {
  'a pod that its owner put under two budgets: that is no matter of a moment, and the API server says so': {
    given: { budgets: known([budget, { ...budget, name: 'web-too' }]) },
    then: 'allowed NothingHeld',
  },
  'a pod whose budget nobody holds': { given: {}, then: 'allowed NothingHeld' },
  'a pod that no budget covers': { given: { budgets: known([]) }, then: 'allowed NoBudget' },
  'a pod that is leaving, whoever holds its budget': {
    given: { pod: known({ ...pod, isLeaving: true }), ledger: known(acting), budgets: known([locked]), isStrict: true },
    then: 'allowed PodIsLeaving',
  },
  'a pod that has not started or has finished, whoever holds its budget': {
    given: { pod: known({ ...pod, isCounted: false }), ledger: known(acting), isStrict: true },
    then: 'allowed PodNotCounted',
  },
  'a pod that is not there: the API server will say so': {
    given: { pod: known(undefined), isStrict: true },
    then: 'allowed PodNotCounted',
  },
  'what the holder itself evicts under its epoch': {
    given: { ledger: known(acting), token },
    then: 'allowed HeldForThis',
  },
  "a lock of the owner's that has ended": {
    given: { budgets: known([{ ...locked, appLock: { ...locked.appLock, untilMs: nowMs } }]) },
    then: 'allowed NothingHeld',
  },
  "what a request with break-glass evicts past an owner's lock": {
    given: { budgets: known([locked]), ledger: known(acting), token, breakGlass: glass },
    then: 'allowed HeldForThis',
  },
  'what cannot be known where nothing is locked: the budget itself is the floor': {
    given: { ledger: unknown('no answer') },
    then: 'allowed HoldUnknown',
  },
})

table('what is refused', {
  'an OSD of a second failure domain while another is held, or two domains would be short at once': {
    given: {
      pod: known({ ...pod, namespace: 'rook', failureDomains: ['zone-b'] }),
      ledger: known(ledgerOf(entry('storage/rook/ceph', { state: 'Acting', scope: 'zone-a' }))),
    },
    then: 'refused OtherDomainDown',
  },
  'an OSD under two budgets that are being exchanged: with the 500 of the API server a drain would give up for good': {
    given: {
      budgets: known([
        { ...budget, name: 'rook-ceph-osd', isExchanged: true },
        { ...budget, name: 'rook-ceph-osd-zone-x', isExchanged: true },
      ]),
    },
    then: 'refused BudgetsExchanged',
  },
  'an instance manager under a budget of Longhorn and one of Cofferdam: the same, and for as long as its node is held':
    {
      given: {
        budgets: known([
          { ...budget, name: 'instance-manager-1' },
          { ...budget, name: 'cofferdam-hold-instance-manager-1', isExchanged: true },
        ]),
      },
      then: 'refused HeldTwice',
    },
  'a pod whose budget a request holds': { given: { ledger: known(acting) }, then: 'refused HeldByRequest' },
  'a pod whose budget is held by a request whose holder is gone': {
    given: { ledger: known(ledgerOf(entry('pdb/shop/web', { state: 'Orphaned' }))) },
    then: 'refused HeldByRequest',
  },
  'what another request evicts, though it acts': {
    given: {
      ledger: known(ledgerOf(...acting.entries, entry('node/node-b', { requestId: 'R2', state: 'Acting', epoch: 2 }))),
      token: { requestId: 'R2', epoch: 2 },
    },
    then: 'refused HeldByRequest',
  },
  'what an earlier holder still has under way after somebody took over': {
    given: { ledger: known(acting), token: { ...token, epoch: 0 } },
    then: 'refused EpochVoid',
  },
  'what an earlier holder still has under way, though nobody holds the budget': {
    given: {
      ledger: known(ledgerOf(entry('node/node-a', { state: 'Acting', epoch: 2 }))),
      budgets: known([]),
      token,
    },
    then: 'refused EpochVoid',
  },
  'what a request evicts before its intent is written': {
    given: { ledger: known(ledgerOf(entry('node/node-a'), entry('pdb/shop/web'))), token },
    then: 'refused EpochVoid',
  },
  'what a request evicts that holds nothing': { given: { token }, then: 'refused EpochVoid' },
  "a pod under an owner's lock": { given: { budgets: known([locked]) }, then: 'refused AppLocked' },
  "a pod under an owner's lock, for a request without break-glass": {
    given: { budgets: known([locked]), ledger: known(acting), token },
    then: 'refused AppLocked',
  },
  "a pod under an owner's lock, after break-glass has ended": {
    given: { budgets: known([locked]), ledger: known(acting), token, breakGlass: { ...glass, untilMs: nowMs } },
    then: 'refused AppLocked',
  },
  "a pod under an owner's lock, with break-glass for a year: one word would void every owner's lock for good": {
    given: {
      budgets: known([locked]),
      ledger: known(acting),
      token,
      breakGlass: { ...glass, untilMs: nowMs + 365 * 86_400_000 },
    },
    then: 'refused AppLocked',
  },
  "a pod under an owner's lock, with break-glass, while the pod cannot be read: it may be on any node": {
    given: { budgets: known([locked]), pod: unknown('no answer'), ledger: known(acting), token, breakGlass: glass },
    then: 'refused AppLocked',
  },
  "a pod under an owner's lock, with break-glass, while the ledger cannot be read: the epoch may be void": {
    given: { budgets: known([locked]), ledger: unknown('no answer'), token, breakGlass: glass },
    then: 'refused AppLocked',
  },
  "a pod under an owner's lock, with break-glass and a void epoch": {
    given: { budgets: known([locked]), ledger: known(acting), token: { ...token, epoch: 9 }, breakGlass: glass },
    then: 'refused AppLocked',
  },
  "a pod under an owner's lock, whatever else is unknown": {
    given: { budgets: known([locked]), ledger: unknown('no answer') },
    then: 'refused AppLocked',
  },
  'what cannot be known where something is locked: the ledger': {
    given: { ledger: unknown('no answer'), isStrict: true },
    then: 'refused HoldUnknown',
  },
  'what cannot be known where something is locked: the budgets': {
    given: { budgets: unknown('no answer'), isStrict: true },
    then: 'refused HoldUnknown',
  },
  'what cannot be known where something is locked: the pod': {
    given: { pod: unknown('no answer'), isStrict: true },
    then: 'refused HoldUnknown',
  },
})

table('a token that was read off a budget, where everybody can read it', {
  'shown by somebody else than the operator: it would open what is held to whoever may read budgets': {
    given: { ledger: known(acting), token, asker: 'mallory' },
    then: 'refused TokenIgnored',
  },
  'shown by somebody who calls himself nothing': {
    given: { ledger: known(acting), token, asker: '', operatorUser: known(operator) },
    then: 'refused TokenIgnored',
  },
  'shown by the operator for a pod on another node, which its request does not hold: two nodes would lose it': {
    given: { ledger: known(acting), token, pod: known({ ...pod, nodeName: 'node-b' }) },
    then: 'refused TokenIgnored',
  },
  'shown for a pod that is on no node': {
    given: { ledger: known(acting), token, pod: known({ ...pod, nodeName: '' }) },
    then: 'refused TokenIgnored',
  },
  'shown while it is not known who the operator is: it counts for nobody': {
    given: { ledger: known(acting), token, operatorUser: unknown('the API server has not said yet') },
    then: 'refused TokenIgnored',
  },
  "shown by somebody else during break-glass: the owner's lock would be open to everybody": {
    given: { budgets: known([locked]), ledger: known(acting), token, breakGlass: glass, asker: 'mallory' },
    then: 'refused AppLocked',
  },
  'shown by the operator during break-glass for a pod on another node: only the node of the request burns': {
    given: {
      budgets: known([locked]),
      ledger: known(acting),
      token,
      breakGlass: glass,
      pod: known({ ...pod, nodeName: 'node-b' }),
    },
    then: 'refused AppLocked',
  },
  'shown by the operator during break-glass for a pod on the node of another request: only its own node burns': {
    given: {
      budgets: known([locked]),
      ledger: known(ledgerOf(...acting.entries, entry('node/node-b', { requestId: 'R2', state: 'Acting', epoch: 2 }))),
      token: { requestId: 'R2', epoch: 2 },
      breakGlass: glass,
    },
    then: 'refused AppLocked',
  },
  'shown by somebody else for an OSD while another failure domain is held: two domains would be short at once': {
    given: { ledger: secondDomain, pod: osd, token, asker: 'mallory' },
    then: 'refused OtherDomainDown',
  },
  'shown by the operator for that OSD lets it go: the storage was granted to its request before': {
    given: { ledger: secondDomain, pod: osd, token },
    then: 'allowed NothingHeld',
  },
  'shown by somebody else where nothing is held opens nothing, and so holds up nobody': {
    given: {
      ledger: known(ledgerOf(entry('node/node-a', { state: 'Acting' }))),
      token,
      asker: 'mallory',
      operatorUser: unknown('the API server has not said yet'),
    },
    then: 'allowed NothingHeld',
  },
})

describe('what a drain prints', () => {
  it.each<[string, Partial<EvictionSnapshot>, object]>([
    [
      'names the owner, the end and the reason',
      { budgets: known([locked]) },
      {
        allowed: false,
        reason: 'AppLocked',
        message:
          'Pod shop/web-1 must stay: bob locked budget shop/web until 2026-01-01T14:00:00Z (rebalance); it may go then, or when annotation cofferdam.io/lock is removed.',
        cause: 'pdb/shop/web',
        holder: 'bob',
        until: '2026-01-01T14:00:00Z',
      },
    ],
    [
      'names the request, since when, and the way out',
      { ledger: known(ledgerOf(entry('pdb/shop/web', { state: 'Acting', holder: other }))) },
      {
        allowed: false,
        reason: 'HeldByRequest',
        message: `Pod shop/web-1 must stay: ${other} holds pdb/shop/web since 2026-01-01T12:00:00Z, for pods that stay on another node while it reboots; it is released when that node is back and the pods that stayed on it are ready.`,
        cause: 'pdb/shop/web',
        holder: other,
      },
    ],
    [
      'says whose token it is to whoever shows one of somebody else',
      {
        ledger: known(ledgerOf(...acting.entries)),
        token,
        asker: 'mallory',
      },
      {
        allowed: false,
        reason: 'TokenIgnored',
        message: `Pod shop/web-1 must stay: operator-1 for nodedisruption/reboot-a holds pdb/shop/web since 2026-01-01T12:00:00Z, and the eviction token is ignored: it counts for user ${operator} only; it is released when that request has ended.`,
        cause: 'pdb/shop/web',
        holder: 'operator-1 for nodedisruption/reboot-a',
      },
    ],
    [
      'says what is not known, and why',
      { ledger: unknown('the ledger did not answer'), isStrict: true },
      {
        allowed: false,
        reason: 'HoldUnknown',
        message:
          'Pod shop/web-1 must stay: budgets of namespace shop are locked, and whether this one is cannot be known at the moment (the ledger did not answer); drains retry by themselves.',
        cause: 'namespace/shop',
        holder: 'unknown',
      },
    ],
  ])('%s', (_sentence, given, then) => expect(decideEviction({ ...calm, ...given })).toMatchObject(then))
})
