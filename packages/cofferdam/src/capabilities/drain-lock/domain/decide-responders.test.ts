import { imperativeEvictor } from '@cofferdam/kubernetes/api/kinds/eviction-requests.ts'
import { describe, expect, it } from 'vitest'
import { decideDisruption } from './decide.ts'
import { decidePass } from './decide-pass.ts'
import type { DisruptionDecision } from './decision.ts'
import { type EvictionAsk, ownResponders, type ResponderFacts, type SeenResponders } from './responder-facts.ts'
import type { DisruptionSnapshot } from './snapshot.ts'
import {
  acting,
  blank,
  draining,
  entry,
  job0,
  ledgerOf,
  locked,
  minutes,
  nowMs,
  other,
  type Scenario,
  stepInWords,
  tell,
  web,
  web0,
} from './testing/fixture.ts'

const mover = 'acme.io/mover'
/** Leaves, and names who is to move it. */
const vm0 = { ...job0, name: 'vm-0', uid: 'vm-0-1', responders: [mover] }
const ask: EvictionAsk = {
  namespace: 'shop',
  name: 'cofferdam-R1-vm-0-1',
  podUid: 'vm-0-1',
  createdMs: nowMs - minutes(30),
  state: 'open',
}
const nothingAsked: SeenResponders = { state: 'seen', asks: [], progress: [], refused: new Map() }

function asked(change: Partial<EvictionAsk> = {}, more: Partial<SeenResponders> = {}): SeenResponders {
  return { ...nothingAsked, asks: [{ ...ask, ...change }], ...more }
}

function activeFor(name: string, signsAgoMs: readonly number[], expectedMs?: number): SeenResponders['progress'] {
  return [{ podUid: 'vm-0-1', active: { name, expectedMs }, signsMs: signsAgoMs.map((ms) => nowMs - ms) }]
}

function seen(responders: ResponderFacts | undefined, scenario: Scenario = {}): DisruptionSnapshot {
  const snapshot = tell({
    record: draining,
    node: { isCordoned: true },
    pods: [web0, job0, vm0],
    budgets: [locked()],
    ledger: acting,
    ...scenario,
  })
  return responders === undefined ? snapshot : { ...snapshot, responders }
}

function responderWords({ responders }: DisruptionDecision): string[] {
  if (responders === undefined) return []
  return 'ask' in responders
    ? responders.ask.map(({ name }) => `ask for ${name}`)
    : responders.withdraw.map(({ name }) => `withdraw ${name}`)
}

function done(decision: DisruptionDecision): string[] {
  return [...decision.steps.map(stepInWords), ...responderWords(decision)]
}

const both = ['evict job-0, vm-0 under 1']
const onlyJob = ['evict job-0 under 1']
const starting = `pod/shop/vm-0: EvictionResponderActive, ${mover}`

describe('a pod that names responders', () => {
  const rows: Record<string, { sees: ResponderFacts | undefined; does: string[]; waits?: string[] }> = {
    'is evicted like any other where the API server has no EvictionRequests': { sees: undefined, does: both },
    'is evicted like any other where EvictionRequests may not be read, so a missing right stops no drain': {
      sees: { state: 'refused', why: 'forbidden' },
      does: both,
    },
    'stays while the API server gives no answer, so no move is cut off by a restart of it': {
      sees: { state: 'unknown', why: 'etcd is away' },
      does: onlyJob,
      waits: [`pod/shop/vm-0: EvictionRequestsUnknown, ${mover}`],
    },
    'is asked for first, and the others do not wait for it': {
      sees: nothingAsked,
      does: [...onlyJob, 'ask for vm-0'],
      waits: [starting],
    },
    'is evicted when the EvictionRequest was refused': {
      sees: { ...nothingAsked, refused: new Map([['vm-0-1', 'forbidden']]) },
      does: both,
    },
    'has a minute for one of them to become active': {
      sees: asked({ createdMs: nowMs - 59_999 }),
      does: onlyJob,
      waits: [starting],
    },
    'is evicted after that minute: there may be no controller': {
      sees: asked({ createdMs: nowMs - 60_000 }),
      does: both,
    },
    'is left to the one that is active and gave a sign within 20 minutes': {
      sees: asked({}, { progress: activeFor(mover, [minutes(29), minutes(19)]) }),
      does: onlyJob,
      waits: [starting],
    },
    'waits a minute more for the next to get its turn when one fell silent': {
      sees: asked({}, { progress: activeFor(mover, [minutes(21) - 1]) }),
      does: onlyJob,
      waits: [starting],
    },
    'is evicted when the active one has been silent for longer: it is dead': {
      sees: asked({}, { progress: activeFor(mover, [minutes(21)]) }),
      does: both,
    },
    'is evicted when the only sign of life claims to be of tomorrow: it would be waited for without end': {
      sees: asked({}, { progress: activeFor(mover, [-minutes(24 * 60)]) }),
      does: both,
    },
    'has a minute between two of them': {
      sees: asked({}, { progress: [{ podUid: 'vm-0-1', active: undefined, signsMs: [nowMs - 30_000] }] }),
      does: onlyJob,
      waits: [starting],
    },
    'is evicted under our own token when all that is left is the eviction of Kubernetes itself': {
      sees: asked({}, { progress: activeFor(imperativeEvictor, [1_000]) }),
      does: both,
    },
    'is evicted when its EvictionRequest has failed': {
      sees: asked({ state: 'ended' }, { progress: activeFor(mover, [1_000]) }),
      does: both,
    },
    'is evicted when somebody withdrew its EvictionRequest': { sees: asked({ state: 'withdrawn' }), does: both },
    'is asked for though a pod of its name was: it is another pod': {
      sees: asked({ podUid: 'vm-0-0' }),
      does: [...onlyJob, 'ask for vm-0'],
      waits: [starting],
    },
  }

  it.each(Object.entries(rows))('%s', (_sentence, { sees, does, waits = [] }) => {
    const decision = decideDisruption(seen(sees))
    expect(done(decision)).toEqual(does)
    expect(decision.blockedBy.map((each) => `${each.object}: ${each.reason}, ${each.holder}`)).toEqual(waits)
  })

  it('is evicted at once under break-glass: that is the way out for a responder that never ends', () => {
    const breakGlass = { by: 'ann', reason: 'fire', untilMs: nowMs + 1 }
    const facts = asked({}, { progress: activeFor(mover, [0]) })
    expect(done(decideDisruption(seen(facts, { request: { breakGlass } })))).toEqual(both)
  })

  it('is not asked for while its owner has locked the budget: a responder may delete it whatever the budget says', () => {
    const appLock = { holder: 'bob', reason: 'rebalance', sinceMs: 0, writtenMs: 0, untilMs: nowMs + 1 }
    const vms = { ...web, name: 'vms', uid: 'vms-1', appLock }
    const decision = decideDisruption(
      seen(nothingAsked, { pods: [{ ...vm0, budgetUids: ['vms-1'] }], budgets: [locked(), vms] }),
    )
    expect(done(decision).filter((step) => !step.includes('shop/web'))).toEqual([])
    expect(decision.blockedBy).toMatchObject([{ object: 'pdb/shop/vms', reason: 'AppLocked', pods: ['shop/vm-0'] }])
  })

  it('is not asked for while another request holds the budget that covers it', () => {
    const held = entry('pdb/shop/vms', { uid: 'vms-1', requestId: 'R2', holder: other, state: 'Acting' })
    const decision = decideDisruption(
      seen(nothingAsked, {
        pods: [web0, { ...vm0, budgetUids: ['vms-1'] }],
        budgets: [locked(), { ...web, name: 'vms', uid: 'vms-1' }],
        ledger: ledgerOf(...acting.entries, held),
      }),
    )
    expect(done(decision)).toEqual([])
    expect(decision.blockedBy).toMatchObject([{ object: 'pdb/shop/vms', reason: 'HeldByRequest' }])
  })

  it('is not asked for while nothing may be evicted because of a pod that would be lost', () => {
    const decision = decideDisruption(seen(nothingAsked, { pods: [web0, vm0, { ...job0, losses: ['force'] }] }))
    expect(responderWords(decision)).toEqual([])
  })

  it('is all that the request waits for, and its record says so', () => {
    const facts = asked({}, { progress: activeFor(mover, [0], nowMs + minutes(3)) })
    const { reason, blockedBy } = decideDisruption(seen(facts, { pods: [web0, vm0] }))
    expect(reason).toBe('EvictionResponderActive')
    expect(blockedBy[0]?.wayOut).toContain('It expects to end at 2026-01-01T12:03:00Z.')
  })

  it('is reported when it is evicted without asking', () => {
    const { warnings } = decideDisruption(seen({ state: 'refused', why: 'no right' }))
    expect(warnings).toContainEqual({
      object: 'pod/shop/vm-0',
      says: `is evicted without asking ${mover}: no right`,
    })
  })
})

describe('what was asked of responders is withdrawn', () => {
  const rows: Record<string, Scenario> = {
    'when the request is cancelled': { request: { isCancelled: true } },
    'when its deadline has passed': { request: { deadlineMs: nowMs } },
    'when the node has rebooted with the pod on it': { node: { isCordoned: true, bootID: 'boot-2' } },
    'while the node is away and its holds are kept': {
      request: { isCancelled: true },
      node: { isCordoned: true, isReady: false },
    },
    'when break-glass of another took its budget': {
      ledger: ledgerOf(entry('node/node-a', { state: 'Acting', bootID: 'boot-1' })),
    },
    'when the record says that it is over': { record: { ...blank, phase: 'Rejected' }, ledger: ledgerOf() },
  }

  it.each(Object.entries(rows))('%s', (_sentence, given) => {
    expect(responderWords(decideDisruption(seen(asked(), given)))).toEqual(['withdraw cofferdam-R1-vm-0-1'])
  })

  it('before anything is released, so that no responder moves a pod under a hold that others have', () => {
    const pass = decidePass({
      state: 'protected',
      seen: seen(asked(), { request: { isCancelled: true } }),
      isFresh: true,
      isReplaced: false,
      refusals: [],
      granted: [],
      faults: [],
      isDryRun: false,
    })
    expect(pass.steps.map((step) => ('what' in step ? step.what : step.do))).toEqual([
      'withdraw-asks',
      'record',
      'uncordon',
      'unlock',
      'hold',
      'drop-finalizer',
      'report',
    ])
  })

  it.each([
    ['that has ended', asked({ state: 'ended' })],
    ['that was withdrawn', asked({ state: 'withdrawn' })],
    ['that cannot be written, or the request would never end', asked({}, { refused: new Map([['vm-0-1', 'no']]) })],
  ])('but not one %s', (_sentence, facts) => {
    expect(responderWords(decideDisruption(seen(facts, { request: { isCancelled: true } })))).toEqual([])
  })
})

describe('the responders that a pod names', () => {
  it.each([
    ['in their order', [{ name: 'a.io/x' }, { name: 'b.io/y' }], ['a.io/x', 'b.io/y']],
    ['without that of Kubernetes, which evicts as we do', [{ name: imperativeEvictor }], []],
    ['without what is no name', [{ name: '' }, {}, { name: 7 }], []],
  ])('%s', (_sentence, named, own) => {
    expect(ownResponders(named)).toEqual(own)
  })
})
