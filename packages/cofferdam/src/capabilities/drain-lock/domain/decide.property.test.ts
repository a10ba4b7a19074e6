import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runsOf } from '../../../../../../test/property-runs.ts'
import { decideEviction } from '../../../ledger/rules/decide-eviction.ts'
import type { Ledger } from '../../../ledger/rules/ledger.ts'
import { known, unknown } from '../../../shared/observed.ts'
import { decideDisruption } from './decide.ts'
import type { BudgetFacts, DisruptionRecord, DisruptionSnapshot, PodFacts } from './snapshot.ts'
import {
  acting,
  blank,
  ceph,
  entry,
  ledgerOf,
  me,
  minutes,
  nowMs,
  other,
  ours,
  tell,
  web,
  web0,
} from './testing/fixture.ts'

const uids = ['web-1', 'web-2', 'db-1']
const podNames = ['web-0', 'web-1', 'job-0']
const someTime = fc.constantFrom(undefined, nowMs - minutes(60), nowMs, nowMs + minutes(4), nowMs + minutes(9))
const references = fc.subarray(podNames).map((names) => {
  return names.map((name) => ({ namespace: 'shop', name, uid: `${name}-1` }))
})

const anyPod: fc.Arbitrary<PodFacts> = fc.record({
  namespace: fc.constantFrom('shop', 'shop', 'shop', 'bank'),
  name: fc.constantFrom(...podNames),
  uid: fc.constantFrom(...podNames.map((name) => `${name}-1`), 'new-1'),
  kind: fc.constantFrom('ordinary', 'ordinary', 'ordinary', 'stays-anyway', 'finished'),
  isReady: fc.boolean(),
  isLeaving: fc.constantFrom(false, false, true),
  wantsToStay: fc.boolean(),
  toleratesMs: fc.constantFrom(0, Number.NaN, 900_000, Number.POSITIVE_INFINITY),
  losses: fc.constantFrom([], [], [], ['force'], ['deleteEmptyDirData'], ['force', 'deleteEmptyDirData']),
  budgetUids: fc.subarray(uids, { maxLength: 2 }),
})

const anyBudget: fc.Arbitrary<BudgetFacts> = fc.record({
  namespace: fc.constant('shop'),
  name: fc.constantFrom('web', 'db'),
  uid: fc.constantFrom(...uids),
  resourceVersion: fc.constant('1'),
  isCounted: fc.boolean(),
  disruptionsAllowed: fc.integer({ min: -1, max: 3 }),
  currentHealthy: fc.nat(4),
  desiredHealthy: fc.nat(4),
  expectedPods: fc.nat(4),
  disruptedUntilMs: fc.dictionary(fc.constantFrom(...podNames), fc.constantFrom(nowMs, nowMs + minutes(9))),
  hold: fc.option(
    fc.record({
      requestId: fc.constantFrom('R1', 'R2'),
      request: fc.constant(ours),
      epoch: fc.constantFrom(1, 2),
      untilMs: fc.constantFrom(nowMs, nowMs + minutes(9)),
      reason: fc.constant(''),
      formerLimit: fc.constantFrom({}, { maxUnavailable: 1 }, { minAvailable: '50%' }, { maxUnavailable: 'x' }),
    }),
    { nil: undefined },
  ),
  appLock: fc.option(
    fc.constantFrom(
      ...[nowMs, nowMs + 1].map((untilMs) => ({
        holder: 'bob',
        reason: '',
        sinceMs: nowMs,
        writtenMs: nowMs,
        untilMs,
      })),
    ),
    {
      nil: undefined,
    },
  ),
})

const anyLedger: fc.Arbitrary<Ledger> = fc
  .array(
    fc.record({
      key: fc.constantFrom('node/node-a', 'pdb/shop/web', 'pdb/shop/db', ceph.key),
      requestId: fc.constantFrom('R1', 'R1', 'R2'),
      holder: fc.constantFrom(me, me, other),
      state: fc.constantFrom('Granted', 'Acting', 'Orphaned'),
      bootID: fc.constantFrom('boot-1', 'boot-2'),
      since: fc.constantFrom('2026-01-01T11:59:00Z', 'nonsense'),
    }),
    { maxLength: 4 },
  )
  .map((entries) => ledgerOf(...entries.map(({ key, ...change }) => entry(key, change))))

const anyRecord: fc.Arbitrary<DisruptionRecord> = fc.record({
  phase: fc.constantFrom(
    ...(['Pending', 'Waiting', 'Locking', 'Draining', 'Drained', 'Recovering', 'Completed', 'Rejected'] as const),
  ),
  epoch: fc.constantFrom(undefined, 1, 2),
  lockedBudgets: fc.constantFrom(blank.lockedBudgets, [{ namespace: 'shop', name: 'web', uid: 'web-1' }]),
  releasedBudgets: fc.constantFrom(blank.releasedBudgets, [{ namespace: 'shop', name: 'web', uid: 'web-1' }]),
  skippedPods: references,
  evictedPods: references,
  cordonedBy: fc.constantFrom(undefined, ours, 'another user'),
  nodeUid: fc.constantFrom(undefined, 'node-a-1', 'node-a-0'),
  bootIDBefore: fc.constantFrom(undefined, '', 'boot-1'),
  bootIDAfter: fc.constantFrom(undefined, 'boot-2'),
  heardBefore: fc.constantFrom(undefined, 'noon', 'later'),
  hasFallenBack: fc.boolean(),
  lockedAtMs: someTime,
  firstInQueueSinceMs: someTime,
  firstInQueueMs: fc.constantFrom(0, 600_000, 3_600_000),
})

/** Anything that could be seen, sense or not. */
const anySnapshot: fc.Arbitrary<DisruptionSnapshot> = fc
  .record({
    record: anyRecord,
    pods: fc.array(anyPod, { maxLength: 3 }),
    budgets: fc.array(anyBudget, { maxLength: 3 }),
    ledger: fc.oneof({ weight: 9, arbitrary: anyLedger }, fc.constant('no answer')),
    node: fc.option(
      fc.record({
        isReady: fc.boolean(),
        isCordoned: fc.boolean(),
        bootID: fc.constantFrom('', 'boot-1', 'boot-2'),
        heard: fc.constantFrom('noon', 'later'),
      }),
      { nil: null },
    ),
    storage: fc.constantFrom([], [ceph], [{ ...ceph, mayGo: unknown('x'), isClean: known(false) }]),
    request: fc.record({
      intent: fc.constantFrom('Reboot', 'Reboot', 'Remove', 'Replace'),
      accepts: fc.constantFrom([], ['force'], ['deleteEmptyDirData'], ['force', 'deleteEmptyDirData']),
      isCancelled: fc.constantFrom(false, false, true),
      deadlineMs: someTime,
      createdMs: fc.constantFrom(nowMs, nowMs - minutes(40)),
      breakGlass: fc.constantFrom(
        undefined,
        { by: 'eve', reason: '', untilMs: nowMs },
        { by: 'eve', reason: '', untilMs: nowMs + 1 },
      ),
    }),
    settings: fc.record({ mode: fc.constantFrom('reserve', 'reserve', 'spec', 'settle') }),
  })
  .map((scenario) => tell(scenario as Parameters<typeof tell>[0]))

it('whatever is seen, the answer is there, the same twice, and says something', () => {
  fc.assert(
    fc.property(anySnapshot, (snapshot) => {
      const decision = decideDisruption(snapshot)
      expect(decideDisruption(structuredClone(snapshot))).toEqual(decision)
      expect(decision.explanation).toMatch(/^\S.*\.$/)
      const isOver = decision.record.phase === 'Completed' || decision.record.phase === 'Rejected'
      if (decision.recheckAfterMs === undefined) expect([isOver, decision.steps]).toEqual([true, []])
      else expect(decision.recheckAfterMs).toBeGreaterThan(0)
    }),
    { numRuns: runsOf(3000) },
  )
})

it('nothing is done to a node or a pod but under keys that this process holds, with the intent written', () => {
  fc.assert(
    fc.property(anySnapshot, (snapshot) => {
      const { steps } = decideDisruption(snapshot)
      const entries = snapshot.ledger.known ? snapshot.ledger.value.entries : []
      const own = entries.filter(({ requestId }) => requestId === 'R1')
      const isOurs = own.length > 0 && own.every(({ holder, state }) => holder === me && state !== 'Orphaned')
      const hasBegun = isOurs && own.some(({ state }) => state === 'Acting')
      for (const step of steps) {
        if (step.step === 'evict' || step.step === 'cordon') expect(hasBegun).toBe(true)
        if (step.step === 'lock' || step.step === 'intend' || step.step === 'release') expect(isOurs).toBe(true)
        if (step.step === 'uncordon') {
          expect(snapshot.request.record.cordonedBy).toBe(ours)
          expect(entries.some(({ key, requestId }) => key === 'node/node-a' && requestId !== 'R1' && !hasBegun)).toBe(
            false,
          )
        }
      }
    }),
    { numRuns: runsOf(3000) },
  )
})

it('no pod is evicted that would lose what the request has not agreed to lose, glass broken or not', () => {
  fc.assert(
    fc.property(anySnapshot, (snapshot) => {
      const { accepts } = snapshot.request
      const [...evicted] = decideDisruption(snapshot).steps.flatMap((step) => (step.step === 'evict' ? step.pods : []))
      for (const { uid } of evicted) {
        // Uids may come twice here; one of them was meant.
        const meant = snapshot.pods.filter((pod) => pod.uid === uid && !pod.isLeaving && pod.kind !== 'stays-anyway')
        expect(meant.some(({ losses }) => losses.every((loss) => accepts.includes(loss)))).toBe(true)
      }
    }),
    { numRuns: runsOf(3000) },
  )
})

it('the list of locked budgets only grows, and holds every budget before it is locked', () => {
  fc.assert(
    fc.property(anySnapshot, (snapshot) => {
      const { steps, record } = decideDisruption(snapshot)
      const before = snapshot.request.record.lockedBudgets
      expect(record.lockedBudgets.slice(0, before.length)).toEqual(before)
      let written = snapshot.request.record
      for (const step of steps) {
        if (step.step === 'record') written = step.record
        if (step.step === 'lock') expect(written.lockedBudgets.map(({ uid }) => uid)).toContain(step.budget.uid)
      }
    }),
    { numRuns: runsOf(3000) },
  )
})

it('no key is given back while a node that may have gone is away, or what stayed on it does not run', () => {
  fc.assert(
    fc.property(anySnapshot, (snapshot) => {
      const { node, request, pods, ledger } = snapshot
      const own = ledger.known ? ledger.value.entries.filter(({ requestId }) => requestId === 'R1') : []
      fc.pre(own.some(({ state }) => state === 'Acting'))
      if (!decideDisruption(snapshot).steps.some(({ step }) => step === 'release')) return
      const uid = request.record.nodeUid ?? own.find(({ key }) => key === 'node/node-a')?.uid ?? 'node-a-1'
      if (node !== undefined && node.uid === uid) expect(node.isReady).toBe(true)
      const stayed = pods.filter((pod) => request.record.skippedPods.some((each) => each.uid === pod.uid))
      const counted = stayed.filter(({ kind, isLeaving }) => kind === 'ordinary' && !isLeaving)
      expect(counted.every(({ isReady }) => isReady)).toBe(true)
    }),
    { numRuns: runsOf(3000) },
  )
})

/** Its word that the node may go is taken back, and it holds budgets. */
const anyRecovering = anySnapshot.map((seen): DisruptionSnapshot => {
  const { request } = seen
  const record: DisruptionRecord = { ...request.record, phase: 'Recovering' }
  const db = entry('pdb/bank/db', { state: 'Acting' })
  return { ...seen, request: { ...request, record }, ledger: known(ledgerOf(...acting.entries, db)) }
})

it('no budget is released before its node is heard of, and every pod of its namespace that stayed runs', () => {
  let times = 0
  fc.assert(
    fc.property(anyRecovering, (snapshot) => {
      const { node, request, pods, ledger } = snapshot
      const released = decideDisruption(snapshot).steps.flatMap((each) =>
        each.step === 'release-budgets' ? each.keys : [],
      )
      if (released.length === 0) return
      times += 1
      const { skippedPods, nodeUid } = request.record
      const own = ledger.known ? ledger.value.entries.filter(({ requestId }) => requestId === 'R1') : []
      const uid = own.find(({ key }) => key === 'node/node-a')?.uid ?? nodeUid ?? 'node-a-1'
      if (node !== undefined && node.uid === uid) expect(node.isReady).toBe(true)
      const stayed = pods.filter((pod) => skippedPods.some((each) => each.uid === pod.uid))
      for (const { namespace, kind, isLeaving, isReady } of stayed) {
        const isReleased = released.some((key) => key.startsWith(`pdb/${namespace}/`))
        if (isReleased && kind === 'ordinary' && !isLeaving) expect(isReady).toBe(true)
      }
    }),
    { numRuns: runsOf(5000) },
  )
  expect(times).toBeGreaterThan(50)
})

it('the guard has an answer for everything, the same twice, and a refusal says why', () => {
  const observed = <T>(value: fc.Arbitrary<T>) =>
    fc.oneof({ weight: 4, arbitrary: value.map(known) }, fc.constant(unknown('x')))
  const pod = { namespace: 'shop', name: 'web-0', uid: 'web-0-1' }
  const anyEviction = fc.record({
    nowMs: fc.constant(nowMs),
    target: fc.constant(pod),
    pod: observed(
      fc.constantFrom(
        undefined,
        ...[true, false].map((isCounted) => ({ ...pod, nodeName: 'node-a', isCounted, isLeaving: false })),
      ),
    ),
    budgets: observed(fc.array(anyBudget, { maxLength: 2 })),
    ledger: observed(anyLedger),
    token: fc.constantFrom(undefined, { requestId: 'R1', epoch: 1 }, { requestId: 'R2', epoch: 9 }),
    asker: fc.constantFrom('operator', 'mallory', ''),
    operatorUser: observed(fc.constant('operator')),
    breakGlass: fc.constantFrom(undefined, { by: 'eve', reason: '', untilMs: nowMs + 1 }),
    isStrict: fc.boolean(),
    dryRun: fc.boolean(),
  })
  fc.assert(
    fc.property(anyEviction, (snapshot) => {
      const verdict = decideEviction(snapshot)
      expect(decideEviction({ ...snapshot, dryRun: !snapshot.dryRun })).toEqual(verdict)
      if (!verdict.allowed) expect(verdict.message).toMatch(/^Pod shop\/web-0 must stay: .*\.$/)
      // Where something is locked, less is let through, never more.
      if (verdict.allowed && snapshot.isStrict)
        expect(decideEviction({ ...snapshot, isStrict: false }).allowed).toBe(true)
      // A token opens nothing to anybody but the operator.
      const isOperator = snapshot.operatorUser.known && snapshot.asker === snapshot.operatorUser.value
      if (verdict.allowed && !isOperator)
        expect(decideEviction({ ...snapshot, token: undefined, breakGlass: undefined }).allowed).toBe(true)
    }),
    { numRuns: runsOf(2000) },
  )
})

it('a budget that the pod is not covered by changes nothing about who stays', () => {
  const stranger = { ...web, name: 'stranger', uid: 'stranger-1', disruptionsAllowed: 0 }
  expect(decideDisruption(tell({ pods: [web0], budgets: [web, stranger] })).steps).toEqual(
    decideDisruption(tell({ pods: [web0], budgets: [web] })).steps,
  )
})
