import type { DisruptionStep } from '@cofferdam/product/capabilities/drain-lock/domain/decision.ts'
import { entriesOf, type GrantRequest, grant, type Ledger } from '@cofferdam/product/ledger/rules/ledger.ts'
import { known } from '@cofferdam/product/shared/observed.ts'
import { type Bounds, realParts } from './bounds.ts'
import { plantedAccidents } from './planted-accidents.ts'
import { decideOn, decideWith, type PlantedBug } from './planted-bug.ts'
import { crossedDrains, kubectlBeside, oneDrain, silentFencer, stalledDrain } from './stories.ts'

/** Two drains that have nothing in common but the failure domain, and evict everything. */
const plainDrains: Bounds = {
  ...crossedDrains,
  name: 'two drains that evict everything',
  stays: { a: [false, false], b: [false, false] },
}

export const plantedBugs = {
  'nobody compares epochs': {
    parts: {
      ...realParts,
      intend: (ledger, by) => realParts.intend(ledger, { ...by, epoch: epochOf(ledger, by) }),
      renew: (ledger, by) => realParts.renew(ledger, { ...by, epoch: epochOf(ledger, by) }),
      release: (ledger, by) => realParts.release(ledger, { ...by, epoch: epochOf(ledger, by) }),
    },
    bounds: stalledDrain,
  },
  'a time to live frees what was acted upon': {
    parts: {
      ...realParts,
      applyOrphans: (ledger, decisions) => {
        const freed = new Set(decisions.filter(({ step }) => step !== 'keep').map(({ requestId }) => requestId))
        return freed.size === 0
          ? ledger
          : { ...ledger, entries: ledger.entries.filter((entry) => !freed.has(entry.requestId)) }
      },
    },
    bounds: silentFencer,
  },
  'what is free is taken, and the rest is waited for': {
    parts: { ...realParts, grant: grantPiecemeal },
    bounds: crossedDrains,
  },
  'a lock is an annotation': {
    parts: { ...realParts, settings: { ...realParts.settings, mode: 'settle', settleMs: 0 } },
    bounds: kubectlBeside,
  },
  'who holds a key already does not matter': {
    parts: {
      ...realParts,
      grant: (ledger, request) => {
        const own = grant({ ...ledger, entries: entriesOf(ledger, request.requestId) }, request)
        const others = ledger.entries.filter(({ requestId }) => requestId !== request.requestId)
        return { ...own, ledger: { ...own.ledger, entries: [...others, ...own.ledger.entries] } }
      },
    },
    bounds: crossedDrains,
  },
  'the intent speaks of the node alone': {
    parts: {
      ...realParts,
      intend: (ledger, by) => {
        const told = realParts.intend(ledger, by)
        if (!told.ok) return told
        const entries = told.ledger.entries.map((entry, index) =>
          entry.key.startsWith('node/') ? entry : (ledger.entries[index] ?? entry),
        )
        return { ok: true, ledger: { ...told.ledger, entries } }
      },
    },
    bounds: oneDrain,
  },
  'budgets are locked before that is on record': {
    parts: { ...realParts, decideDisruption: decideWith((steps) => steps.filter(({ step }) => step !== 'record')) },
    bounds: oneDrain,
  },
  'a node is opened while it is drained': {
    parts: {
      ...realParts,
      decideDisruption: decideWith((steps, { phase }) =>
        phase === 'Drained' ? [...steps, { step: 'uncordon' }] : steps,
      ),
    },
    bounds: oneDrain,
  },
  'a ticket is kept by those who hold': {
    parts: {
      ...realParts,
      grant: (ledger, request) => {
        const answer = grant(ledger, request)
        return answer.granted ? { ...answer, ledger: { ...answer.ledger, tickets: ledger.tickets } } : answer
      },
    },
    bounds: crossedDrains,
  },
  'only the node is asked for': {
    parts: {
      ...realParts,
      grant: (ledger, request) =>
        grant(ledger, { ...request, claims: request.claims.filter(({ key }) => key.startsWith('node/')) }),
    },
    bounds: oneDrain,
  },
  'the failure domain of storage does not matter': {
    parts: {
      ...realParts,
      grant: (ledger, request) =>
        grant(ledger, { ...request, claims: request.claims.map((claim) => ({ ...claim, scope: 'anywhere' })) }),
    },
    bounds: { ...silentFencer, crashes: [0, 0, 0] },
  },
  'the storage of others may be taken': {
    parts: {
      ...realParts,
      grant: (ledger, request) => {
        const own = ledger.entries.filter(({ key }) => !key.startsWith('storage/'))
        const rest = ledger.entries.filter(({ key }) => key.startsWith('storage/'))
        const answer = grant({ ...ledger, entries: own }, request)
        return { ...answer, ledger: { ...answer.ledger, entries: [...rest, ...answer.ledger.entries] } }
      },
    },
    bounds: { ...silentFencer, crashes: [0, 0, 0] },
  },
  'the intent is never written': {
    parts: { ...realParts, intend: (ledger) => ({ ok: true, ledger }) },
    bounds: oneDrain,
  },
  'to release is to release everybody': {
    parts: {
      ...realParts,
      release: (ledger, by) => {
        const released = realParts.release(ledger, by)
        return released.ok ? { ok: true, ledger: { ...released.ledger, entries: [] } } : released
      },
    },
    bounds: plainDrains,
  },
  'one key is forgotten when all are released': {
    parts: {
      ...realParts,
      release: (ledger, by) => {
        const released = realParts.release(ledger, by)
        if (!released.ok) return released
        const kept = entriesOf(ledger, by.requestId).filter(({ key }) => key.startsWith('storage/'))
        return { ok: true, ledger: { ...released.ledger, entries: [...released.ledger.entries, ...kept] } }
      },
    },
    bounds: oneDrain,
  },
  'a ticket is never taken back': {
    parts: { ...realParts, withdraw: (ledger) => ledger },
    bounds: { ...crossedDrains, ownerLocks: 1, lastAge: 2, drainers: 1 },
  },
  'who asks again goes to the end of the queue': {
    parts: {
      ...realParts,
      enqueue: (ledger, request) => realParts.enqueue(realParts.withdraw(ledger, request.requestId), request),
    },
    bounds: { ...crossedDrains, ownerLocks: 1 },
  },
  'who steps back goes to the end of the queue': {
    parts: {
      ...realParts,
      stepBack: (ledger, by) => {
        const released = realParts.release(ledger, by)
        if (!released.ok) return released
        const claims = entriesOf(ledger, by.requestId)
        const request = { requestId: by.requestId, holder: claims[0]?.holder ?? '', claims, now: '' }
        return { ok: true, ledger: realParts.enqueue(released.ledger, request) }
      },
    },
    bounds: { ...crossedDrains, drainers: 1, ownerLocks: 1 },
  },
  'who steps back loses its place': {
    parts: { ...realParts, stepBack: (ledger, by) => realParts.release(ledger, by) },
    bounds: { ...crossedDrains, ownerLocks: 1 },
  },
  'budgets stay locked when the drain is over': {
    parts: { ...realParts, decideDisruption: decideWith((steps) => steps.filter(({ step }) => step !== 'unlock')) },
    bounds: oneDrain,
  },
  'the node stays cordoned when the drain is over': {
    parts: { ...realParts, decideDisruption: decideWith((steps) => steps.filter(({ step }) => step !== 'uncordon')) },
    bounds: oneDrain,
  },
  'a node is said to be drained while pods leave': {
    parts: {
      ...realParts,
      decideDisruption: (snapshot) => {
        const decision = realParts.decideDisruption(snapshot)
        const { record } = decision
        return record.phase === 'Draining' ? { ...decision, record: { ...record, phase: 'Drained' } } : decision
      },
    },
    bounds: { ...oneDrain, stays: { a: [false, false], b: [false, false] } },
  },
  'a pod that is terminating counts as gone': {
    parts: {
      ...realParts,
      decideDisruption: decideOn((seen) => ({ ...seen, pods: seen.pods.filter(({ isLeaving }) => !isLeaving) })),
    },
    bounds: { ...oneDrain, stays: { a: [false, false], b: [false, false] } },
  },
  'the word that a node may go is never taken back': {
    parts: {
      ...realParts,
      decideDisruption: (snapshot) => {
        const decision = realParts.decideDisruption(snapshot)
        const wasDrained = snapshot.request.record.phase === 'Drained'
        const isOpen = wasDrained && decision.record.phase === 'Recovering' && snapshot.node?.isReady === true
        return isOpen ? { ...decision, steps: decision.steps.filter(({ step }) => step !== 'record') } : decision
      },
    },
    bounds: { ...oneDrain, mayGiveBack: true },
  },
  'everything is released as soon as the intent is written': {
    parts: {
      ...realParts,
      decideDisruption: decideWith((steps) =>
        steps.flatMap((step): readonly DisruptionStep[] =>
          step.step === 'intend' ? [step, { step: 'release', epoch: step.epoch }] : [step],
        ),
      ),
    },
    bounds: oneDrain,
  },
  'a drain does not ask whether an owner has locked': {
    parts: {
      ...realParts,
      decideDisruption: decideOn((seen) => ({
        ...seen,
        budgets: seen.budgets.map((budget) => ({ ...budget, appLock: undefined })),
      })),
    },
    bounds: { ...oneDrain, ownerLocks: 1 },
  },
  'the guard does not ask whether an owner has locked': {
    parts: {
      ...realParts,
      decideEviction: (question) =>
        realParts.decideEviction(
          question.budgets.known
            ? { ...question, budgets: known(question.budgets.value.map((each) => ({ ...each, appLock: undefined }))) }
            : question,
        ),
    },
    bounds: { ...kubectlBeside, ownerLocks: 1 },
  },
  'an owner’s lock is never read': {
    parts: { ...realParts, parseAppLock: () => ({}) },
    bounds: { ...oneDrain, ownerLocks: 1 },
  },
  'storage is not asked': {
    parts: {
      ...realParts,
      decideDisruption: decideOn((seen) => ({
        ...seen,
        storage: seen.storage.map((each) => ({
          ...each,
          mayGo: known({ allowed: true, explanation: '' }),
          isClean: known(true),
        })),
      })),
    },
    bounds: { ...silentFencer, crashes: [0, 0, 0] },
  },
  'the storage of a drain is not held': {
    parts: { ...realParts, decideDisruption: decideOn((seen) => ({ ...seen, storage: [] })) },
    bounds: { ...silentFencer, crashes: [0, 0, 0] },
  },
  'pods that stayed need not be back': {
    parts: {
      ...realParts,
      decideDisruption: decideOn((seen) => ({ ...seen, pods: seen.pods.map((pod) => ({ ...pod, isReady: true })) })),
    },
    bounds: oneDrain,
  },
  'the guard lets everybody through': {
    parts: {
      ...realParts,
      decideEviction: () => ({ allowed: true, reason: 'NotGuarded' }),
    },
    bounds: { ...kubectlBeside, ownerLocks: 1 },
  },
  'the guard lets nobody through, not even the holder': {
    parts: {
      ...realParts,
      decideEviction: () => ({
        allowed: false,
        reason: 'EpochVoid',
        why: '',
        ends: '',
        message: '',
        cause: '',
        holder: '',
      }),
    },
    bounds: { ...oneDrain, stays: { a: [false, false], b: [false, false] } },
  },
  'a reservation takes no disruption': {
    parts: {
      ...realParts,
      reservedStatus: (status, pods, untilMs) => {
        const reserved = realParts.reservedStatus(status, pods, untilMs)
        return reserved && { ...reserved, disruptionsAllowed: status.disruptionsAllowed }
      },
    },
    bounds: kubectlBeside,
  },
  'a reservation names no pod': {
    parts: {
      ...realParts,
      reservedStatus: (status, pods, untilMs) => {
        const reserved = realParts.reservedStatus(status, pods, untilMs)
        return reserved && { ...reserved, disruptedPods: status.disruptedPods ?? {} }
      },
    },
    bounds: kubectlBeside,
  },
  'a disruption is reserved that is not there': {
    parts: {
      ...realParts,
      reservedStatus: (status, pods, untilMs) =>
        realParts.reservedStatus({ ...status, disruptionsAllowed: status.disruptionsAllowed + 1 }, pods, untilMs),
    },
    bounds: kubectlBeside,
  },
  'what a vanished holder did is not waited for': {
    parts: {
      ...realParts,
      decideOrphans: (snapshot) =>
        realParts
          .decideOrphans(snapshot)
          .map((decision) => (decision.step === 'keep' ? { ...decision, step: 'purge' as const } : decision)),
    },
    bounds: silentFencer,
  },
  'budgets are never locked': {
    parts: { ...realParts, decideDisruption: decideWith((steps) => steps.filter(({ step }) => step !== 'lock')) },
    bounds: oneDrain,
  },
  'the node is never cordoned': {
    parts: { ...realParts, decideDisruption: decideWith((steps) => steps.filter(({ step }) => step !== 'cordon')) },
    bounds: oneDrain,
  },
  'no pod is ever evicted': {
    parts: { ...realParts, decideDisruption: decideWith((steps) => steps.filter(({ step }) => step !== 'evict')) },
    bounds: { ...plainDrains, drainers: 1 },
  },
  'locks are released while the record still says that the node may go': {
    parts: {
      ...realParts,
      decideDisruption: decideWith((steps) => {
        const [first, ...rest] = steps
        const isEnding = first?.step === 'record' && rest.some(({ step }) => step === 'unlock' || step === 'release')
        return isEnding ? [...rest, first] : steps
      }),
    },
    bounds: { ...kubectlBeside, mayGiveBack: true },
  },
  'the guard does not compare epochs': {
    parts: {
      ...realParts,
      decideEviction: (question) => {
        const { token, ledger } = question
        if (token === undefined || !ledger.known) return realParts.decideEviction(question)
        const epoch = epochOf(ledger.value, token)
        return realParts.decideEviction({ ...question, token: { ...token, epoch } })
      },
    },
    bounds: { ...stalledDrain, stays: { a: [false, false], b: [false, false] } },
  },
  ...plantedAccidents,
} satisfies Record<string, PlantedBug>

function epochOf(ledger: Ledger, { requestId, epoch }: { requestId: string; epoch: number }): number {
  return entriesOf(ledger, requestId)[0]?.epoch ?? epoch
}

function grantPiecemeal(ledger: Ledger, request: GrantRequest): ReturnType<typeof grant> {
  const whole = grant(ledger, request)
  if (whole.granted) return whole
  const inTheWay = new Set(whole.obstacles.map(({ key }) => key))
  const claims = request.claims.filter(({ key }) => !inTheWay.has(key))
  const part = grant(ledger, { ...request, claims })
  if (!part.granted) return whole
  return { ...whole, ledger: { ...part.ledger, tickets: whole.ledger.tickets, nextTicket: whole.ledger.nextTicket } }
}
