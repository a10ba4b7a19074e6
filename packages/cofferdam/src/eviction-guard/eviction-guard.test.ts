import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { describe, expect, it } from 'vitest'
import { evictionTokenAnnotation } from '../capabilities/drain-lock/domain/eviction-token.ts'
import { defaultAppLockPolicy } from '../ledger/rules/app-lock.ts'
import { buildAppLockRecord } from '../ledger/rules/app-lock-record.ts'
import { emptyLedger, type Ledger } from '../ledger/rules/ledger.ts'
import { known, type Observed, unknown } from '../shared/observed.ts'
import { followBudgets } from './covering-budgets.ts'
import { EvictionAttempts } from './eviction-attempts.ts'
import { createEvictionGuard, type GuardOutcome } from './eviction-guard.ts'
import type { GuardedBudget, GuardedPod } from './guarded-objects.ts'
import { deletionReview, evictionReview } from './testing/reviews.ts'

const pod: GuardedPod = {
  namespace: 'shop',
  name: 'web-0',
  uid: 'pod-1',
  nodeName: 'node-a',
  labels: { app: 'web' },
  isReady: true,
  isLeaving: false,
  isCounted: true,
}
const lock = { until: '2026-01-01T02:00:00Z', holder: 'shop team', reason: 'rebalancing' }
const budget = (annotations: JsonObject = {}): GuardedBudget => ({
  namespace: 'shop',
  name: 'web',
  uid: 'budget-1',
  selector: { matchLabels: { app: 'web' } },
  isExchanged: false,
  mayHoldStorage: false,
  annotations: Object.fromEntries(Object.entries(annotations).map(([key, value]) => [key, JSON.stringify(value)])),
})
const locked = budget({ 'cofferdam.io/lock': lock })
const other = (like: GuardedBudget): GuardedBudget => ({ ...like, selector: { matchLabels: { app: 'db' } } })

interface Seen {
  readonly pods?: readonly GuardedPod[]
  /** Not in view yet. */
  readonly newPods?: readonly GuardedPod[]
  readonly budgets?: readonly GuardedBudget[]
  /** As the API server has them, where that is not what the guard has heard. */
  readonly stored?: Observed<GuardedBudget | undefined>
  readonly ledger?: Observed<Ledger>
  /** As a fresh look at it shows it. */
  readonly renewed?: Observed<Ledger>
  /** As it is when it is asked for, where that changes. */
  readonly current?: () => Observed<Ledger>
  readonly ageMs?: number
  /** Where the view of pods is older than the others. */
  readonly podsAgeMs?: number
  readonly guardsDeletions?: boolean
  readonly operatorUser?: Observed<string>
}

const operator = 'system:serviceaccount:cofferdam-system:cofferdam'

function fixture(seen: Seen) {
  const { pods = [pod], budgets = [], ledger = known(emptyLedger), renewed = ledger } = seen
  const { ageMs = 0, guardsDeletions = false, newPods = [], operatorUser = known(operator) } = seen
  const { podsAgeMs = ageMs } = seen
  const clock = new VirtualClock(Date.UTC(2026, 0, 1))
  const outcomes: Omit<GuardOutcome, 'tookMs'>[] = []
  const attempts = new EvictionAttempts({ clock })
  const published: string[] = []
  const guard = createEvictionGuard({
    startStopwatch: () => () => 0,
    clock,
    attempts,
    guardsDeletions,
    pods: {
      ageMs: () => podsAgeMs,
      get: ({ name }) => pods.find((each) => each.name === name),
      byIndex: (_index, node) => pods.filter(({ nodeName }) => nodeName === node),
    },
    readPod: async ({ name }) => known(newPods.find((each) => each.name === name)),
    budgets: followBudgets({
      clock,
      policy: defaultAppLockPolicy,
      trustedMs: 180_000,
      view: { ageMs: () => ageMs, list: () => budgets, subscribe: () => () => {} },
      read: async ({ name }) => seen.stored ?? known(budgets.find((each) => each.name === name)),
    }),
    ledger: { current: seen.current ?? (() => ledger), renewed: async () => renewed },
    breakGlassOf: () => undefined,
    operatorUser: () => operatorUser,
    publisher: {
      publish: ({ node, by, refused }) =>
        published.push(refused === undefined ? `${by} ${node}` : `${by} ${node}: ${refused.says}`),
    },
    report: ({ verdict, reason }) => outcomes.push({ verdict, reason }),
  })
  const ask = async (review: object | string, isStrict = false, isFromServer = true) => {
    const text = typeof review === 'string' ? review : JSON.stringify(review)
    const { code, body } = await guard.answer(text, { isStrict, isFromServer })
    return code === 200 ? (JSON.parse(body) as { response: JsonObject }).response : { code, body }
  }
  return { clock, ask, outcomes, attempts, published }
}

const acting: Ledger = {
  ...emptyLedger,
  nextEpoch: 2,
  entries: ['node/node-a', 'pdb/shop/web'].map((key) => ({
    key,
    uid: `${key}-1`,
    scope: '',
    holder: 'operator-1',
    requestId: 'request-1',
    epoch: 1,
    state: 'Acting',
    since: '2026-01-01T00:00:00Z',
    renewSequence: 0,
  })),
}
const withToken = (user: string) =>
  evictionReview({
    user,
    eviction: {
      metadata: { name: 'web-0', annotations: { [evictionTokenAnnotation]: '{"requestId":"request-1","epoch":1}' } },
    },
  })

const podObject = (status: Pod['status'] = { phase: 'Running' }): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'shop', name: 'web-0', uid: 'pod-1', labels: { app: 'web' } },
  spec: { nodeName: 'node-a', containers: [] },
  status,
})

const scenarios: Record<string, { given: Seen; asked?: object; isStrict?: boolean; then: readonly [boolean, string] }> =
  {
    'a pod of a budget that nobody holds may go': { given: { budgets: [budget()] }, then: [true, 'NothingHeld'] },
    'a pod of a locked budget must stay': { given: { budgets: [locked] }, then: [false, 'AppLocked'] },
    'a dry run gets the same answer': {
      given: { budgets: [locked] },
      asked: evictionReview({ request: { dryRun: true } }),
      then: [false, 'AppLocked'],
    },
    'a lock that nobody can read locks nothing': {
      given: { budgets: [budget({ 'cofferdam.io/lock': 'for ever' })] },
      then: [true, 'NothingHeld'],
    },
    'a locked budget that covers other pods holds nobody else': {
      given: { budgets: [{ ...locked, selector: { matchLabels: { app: 'db' } } }] },
      then: [true, 'NoBudget'],
    },
    'a pod that does not exist is left to the API server': { given: { pods: [] }, then: [true, 'PodNotCounted'] },
    'a pod that is too new to be in view is looked up where something is locked': {
      given: { pods: [], newPods: [pod], budgets: [locked] },
      isStrict: true,
      then: [false, 'AppLocked'],
    },
    'a pod that does not exist at all is left to the API server there too': {
      given: { pods: [], budgets: [locked] },
      isStrict: true,
      then: [true, 'PodNotCounted'],
    },
    'a view that is too old is not believed, and where nothing is locked that holds nobody up': {
      given: { budgets: [locked], ageMs: 180_001 },
      then: [true, 'HoldUnknown'],
    },
    'a view that is too old holds everything where something is locked': {
      given: { budgets: [locked], ageMs: 180_001 },
      isStrict: true,
      then: [false, 'HoldUnknown'],
    },
    'pods that alone are too old are held where something is locked: one that is newer than the view could be locked': {
      given: { budgets: [budget()], podsAgeMs: 180_001 },
      isStrict: true,
      then: [false, 'HoldUnknown'],
    },
    'a lock that only another replica has heard of holds where that one has marked the namespace: an eviction went through beside it':
      {
        given: { budgets: [budget()], stored: known(locked) },
        isStrict: true,
        then: [false, 'AppLocked'],
      },
    'a budget that is not locked lets its pods go where another one of the namespace is': {
      given: { budgets: [budget()] },
      isStrict: true,
      then: [true, 'NothingHeld'],
    },
    'a budget that is gone since lets its pods go, as far as the guard goes': {
      given: { budgets: [budget()], stored: known(undefined) },
      isStrict: true,
      then: [true, 'NoBudget'],
    },
    'a budget that covers other pods by now lets this one go': {
      given: { budgets: [budget()], stored: known(other(locked)) },
      isStrict: true,
      then: [true, 'NoBudget'],
    },
    'a lock beyond the quota of its namespace locks nothing, though only the API server has it': {
      given: {
        budgets: [budget(), ...['a', 'b', 'c', 'd', 'e'].map((name) => ({ ...other(locked), name }))],
        stored: known(locked),
      },
      isStrict: true,
      then: [true, 'NothingHeld'],
    },
    'a budget that cannot be read again holds its pods where something is locked': {
      given: { budgets: [budget()], stored: unknown('the budget could not be read: no') },
      isStrict: true,
      then: [false, 'HoldUnknown'],
    },
    'a budget is not read again where nothing is locked: drains of the whole cluster would pay for it': {
      given: { budgets: [budget()], stored: known(locked) },
      then: [true, 'NothingHeld'],
    },
    'a ledger that cannot be read holds everything where something is locked': {
      given: { budgets: [budget()], ledger: unknown('silent') },
      isStrict: true,
      then: [false, 'HoldUnknown'],
    },
    'a budget that a drain holds is held against everybody else': {
      given: { budgets: [budget()], ledger: known(acting) },
      then: [false, 'HeldByRequest'],
    },
    'a drain that has only just written down what it holds is let through on a fresh look': {
      given: { budgets: [budget()], renewed: known(acting) },
      asked: withToken(operator),
      then: [true, 'HeldForThis'],
    },
    'a drain that holds nothing is refused, and stays so when a fresh look is not to be had': {
      given: { budgets: [budget()], renewed: unknown('silent') },
      asked: withToken(operator),
      then: [false, 'EpochVoid'],
    },
    'a token that somebody else read off the budget opens nothing to him': {
      given: { budgets: [budget()], ledger: known(acting) },
      asked: withToken('mallory'),
      then: [false, 'TokenIgnored'],
    },
    'a token of a request opens nothing on another node than its own': {
      given: { pods: [{ ...pod, nodeName: 'node-b' }], budgets: [budget()], ledger: known(acting) },
      asked: withToken(operator),
      then: [false, 'TokenIgnored'],
    },
    'while nobody knows as whom the operator evicts, its own token opens nothing either': {
      given: { budgets: [budget()], ledger: known(acting), operatorUser: unknown('not said yet') },
      asked: withToken(operator),
      then: [false, 'TokenIgnored'],
    },
    'a deletion is nobody’s business unless that is asked for': {
      given: { budgets: [locked] },
      asked: deletionReview(podObject()),
      then: [true, 'NotGuarded'],
    },
    'a deletion is judged as an eviction where that is asked for': {
      given: { budgets: [locked], guardsDeletions: true },
      asked: deletionReview(podObject()),
      then: [false, 'AppLocked'],
    },
    'a kubelet may end its own pods': {
      given: { budgets: [locked], guardsDeletions: true },
      asked: deletionReview(podObject(), { userInfo: { username: 'system:node:a', groups: ['system:nodes'] } }),
      then: [true, 'NotGuarded'],
    },
    'a pod that has finished may be tidied away by anybody': {
      given: { budgets: [locked], guardsDeletions: true },
      asked: deletionReview(podObject({ phase: 'Failed' })),
      then: [true, 'NotGuarded'],
    },
    'another resource is nobody’s business': {
      given: { budgets: [locked] },
      asked: evictionReview({ request: { subResource: 'binding' } }),
      then: [true, 'NotGuarded'],
    },
  }

describe('the eviction guard', () => {
  it.each(Object.entries(scenarios))('%s', async (_sentence, { given, asked = evictionReview(), isStrict, then }) => {
    const { ask, outcomes } = fixture(given)
    const response = await ask(asked, isStrict)
    const [allowed, reason] = then
    expect(response).toMatchObject({ uid: 'review-1', allowed })
    expect(outcomes).toEqual([{ verdict: allowed ? 'allowed' : 'refused', reason }])
  })

  it('answers 400 with words to what it cannot read, and goes on', async () => {
    const { ask, outcomes } = fixture({})
    expect(await ask('{')).toEqual({ code: 400, body: 'not understood: the body is not JSON\n' })
    expect(await ask(evictionReview())).toMatchObject({ allowed: true })
    expect(outcomes.map(({ verdict }) => verdict)).toEqual(['malformed', 'allowed'])
  })

  it('keeps a lock no longer than the ledger says, and remembers that while the ledger cannot be read', async () => {
    const text = JSON.stringify({ ...lock, until: '2099-01-01T00:00:00Z' })
    const endless = { ...budget(), annotations: { 'cofferdam.io/lock': text } }
    const startMs = Date.UTC(2026, 0, 1)
    const times = { sinceMs: startMs - 11 * 3_600_000, writtenMs: startMs - 60_000, untilMs: startMs + 3_600_000 }
    const record = buildAppLockRecord('shop/web', { text, ...times })
    let seen: Observed<Ledger> = known({ ...emptyLedger, appLocks: [record] })
    const { ask, clock } = fixture({ budgets: [endless], current: () => seen })
    const asked = async () => (await ask(evictionReview()))['allowed']
    expect(await asked()).toBe(false)
    seen = unknown('silent')
    await clock.advance(3_600_000 - 1_000)
    expect(await asked()).toBe(false)
    await clock.advance(2_000)
    expect(await asked()).toBe(true)
  })

  it('lets pods go at the very moment a lock ends, without being told', async () => {
    const { ask, clock } = fixture({ budgets: [locked] })
    await clock.advance(2 * 3_600_000 - 1)
    expect(await ask(evictionReview())).toMatchObject({ allowed: false })
    await clock.advance(1)
    expect(await ask(evictionReview())).toMatchObject({ allowed: true })
  })

  it('says that it hears an eviction that is only tried; a real one with the same note is judged like any other, and a forged one learns nothing', async () => {
    const { ask } = fixture({ budgets: [budget()] })
    const eviction = { metadata: { name: 'web-0', annotations: { 'cofferdam.io/guard-trial': 'once' } } }
    const tried = evictionReview({ eviction, request: { dryRun: true } })
    expect(await ask(tried)).toMatchObject({
      allowed: false,
      status: { message: 'the eviction guard hears: once', details: { causes: [{ field: 'trial' }] } },
    })
    expect(await ask(evictionReview({ eviction }))).toMatchObject({ allowed: true })
    expect(await ask(tried, false, false)).toMatchObject({ allowed: true })
  })

  it('sees a drain in every eviction that is asked for, also in one it refuses, and none in a dry run or a deletion', async () => {
    const { ask, published } = fixture({ budgets: [locked], guardsDeletions: true })
    await ask(evictionReview({ request: { dryRun: true } }))
    await ask(deletionReview(podObject()))
    await ask(evictionReview({ name: 'unknown' }))
    expect(published).toEqual([])
    await ask(evictionReview())
    expect(published).toEqual(['alice node-a', expect.stringMatching(/^alice node-a: pdb\/\S+ \([A-Z]\w+\)$/)])
  })

  it('keeps nothing of ten thousand reviews but whom it saw at which node', async () => {
    const pods = Array.from({ length: 50 }, (_, at) => ({ ...pod, name: `web-${at}`, nodeName: `node-${at % 10}` }))
    const { ask, attempts } = fixture({ pods, budgets: [locked] })
    for (let at = 0; at < 10_000; at += 1) await ask(evictionReview({ name: `web-${at % 50}` }))
    expect([attempts.size, attempts.of('node-3')?.count]).toEqual([10, 1_000])
  })
})

describe('while a failure domain of Ceph is away', () => {
  const daemon = (name: string, nodeName: string, zone?: string): GuardedPod => ({
    ...pod,
    namespace: 'rook-ceph',
    name,
    nodeName,
    labels: {
      app: `rook-ceph-${name.slice(0, 3)}`,
      ...(zone === undefined ? {} : { 'topology-location-zone': zone, 'topology-location-host': nodeName }),
    },
  })
  const pods = [
    daemon('osd-0', 'node-a', 'zone-x'),
    daemon('osd-2', 'node-b', 'zone-y'),
    daemon('mon-a', 'node-a'),
    daemon('mon-b', 'node-b'),
    daemon('mon-c', 'node-without-osds'),
    daemon('mds-b', 'node-b'),
  ]
  const all = { ...budget(), namespace: 'rook-ceph', name: 'all', selector: {} }
  const held = (scope: string, state: 'Acting' | 'Orphaned' = 'Acting'): Ledger => ({
    ...emptyLedger,
    entries: [
      {
        key: 'storage/rook-ceph/rook-ceph',
        uid: 'ceph-1',
        scope,
        holder: 'ceph-drain of rook-ceph/rook-ceph: osd.1 down, node-a being drained',
        requestId: 'ceph-drain/ceph-1/zone-x',
        epoch: 1,
        state,
        since: '2026-01-01T00:00:00Z',
        renewSequence: 0,
      },
    ],
  })
  const answersFor = async (ledger: Ledger, budgets: readonly GuardedBudget[] = [all]) => {
    const { ask, outcomes } = fixture({ pods, budgets, ledger: known(ledger) })
    for (const { name } of pods) await ask(evictionReview({ namespace: 'rook-ceph', name }))
    return Object.fromEntries(pods.map(({ name }, at) => [name, outcomes[at]?.reason]))
  }

  it('the first step of a drain elsewhere is refused with who is away, before a budget that has room again grants it', async () => {
    expect(await answersFor(held('zone-x'))).toEqual({
      'osd-0': 'NothingHeld',
      'osd-2': 'OtherDomainDown',
      'mon-a': 'NothingHeld',
      'mon-b': 'OtherDomainDown',
      'mon-c': 'NothingHeld',
      'mds-b': 'NothingHeld',
    })
    const { ask } = fixture({ pods, budgets: [all], ledger: known(held('zone-x')) })
    expect(await ask(evictionReview({ namespace: 'rook-ceph', name: 'osd-2' }))).toMatchObject({
      allowed: false,
      status: { code: 429, message: expect.stringMatching(/failure domain zone-x .* node-a being drained/) },
    })
  })

  it('domains that may be away together are let go, and so is everything where names are not known or the holder is gone', async () => {
    const free = Object.fromEntries(pods.map(({ name }) => [name, 'NothingHeld']))
    expect(await answersFor(held('zone-x+zone-y'))).toEqual(free)
    expect(await answersFor(held('node-b+zone-x'))).toEqual(free)
    expect(await answersFor(held(''))).toEqual(free)
    expect(await answersFor(held('12-domains-0123456789abcdef0123456789abcdef'))).toEqual(free)
    expect(await answersFor(held('zone-x', 'Orphaned'))).toEqual(free)
  })

  it('what no budget holds is let go: a dead OSD whose data is safe elsewhere holds up no drain', async () => {
    expect((await answersFor(held('zone-x'), []))['osd-2']).toBe('NoBudget')
  })
})

describe('a review that any pod of the cluster may have sent', () => {
  it('leaves nothing behind: a forged one made a node count as being drained, and its storage was exchanged for it', async () => {
    const { ask, published, attempts } = fixture({ budgets: [locked] })
    expect(await ask(evictionReview({ user: 'kubernetes-admin' }), true, false)).toMatchObject({ allowed: false })
    expect([published, attempts.size]).toEqual([[], 0])
    await ask(evictionReview({ user: 'kubernetes-admin' }), true)
    expect(published).not.toEqual([])
  })

  it('gets the verdict without the names: whoever reached the port read who holds which budget of others, and why', async () => {
    const { ask } = fixture({ budgets: [locked] })
    const { status } = (await ask(evictionReview(), true, false)) as JsonObject
    expect(status).toMatchObject({ code: 429, message: 'The pod must stay. Ask the API server for the reason.' })
    expect(JSON.stringify(status)).not.toMatch(/shop|rebalancing|team/)
    const { ask: askHeld } = fixture({ budgets: [budget()], ledger: known(acting) })
    expect(JSON.stringify(await askHeld(evictionReview(), false, false))).not.toMatch(/operator-1|request-1/)
  })

  it('about a pod that is not in view is refused where a lock is held, and reads no pod: sixteen of them would keep the API server’s own waiting', async () => {
    const { ask, outcomes } = fixture({ pods: [], newPods: [pod], budgets: [locked] })
    await ask(evictionReview(), true, false)
    await ask(evictionReview(), true)
    expect(outcomes.map(({ reason }) => reason)).toEqual(['HoldUnknown', 'AppLocked'])
  })
})
