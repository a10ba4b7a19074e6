import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { gateOf } from '@cofferdam/product/capabilities/fencing/apply/gate.ts'
import { decideFencing } from '@cofferdam/product/capabilities/fencing/domain/decide.ts'
import { decideFencingPass } from '@cofferdam/product/capabilities/fencing/domain/decide-pass.ts'
import { holdFence } from '@cofferdam/product/capabilities/fencing/domain/hold-fence.ts'
import { marks } from '@cofferdam/product/capabilities/fencing/domain/marks.ts'
import { fencesText, parseFences } from '@cofferdam/product/capabilities/fencing/domain/recorded-fences.ts'
import { isFenceRequest, storageHolders } from '@cofferdam/product/capabilities/fencing/domain/storage-holders.ts'
import { emptyLedger, grant, intend, release } from '@cofferdam/product/ledger/rules/ledger.ts'
import { storageKey } from '@cofferdam/product/ledger/rules/storage-arbiter.ts'
import { beginPass, isQuiet, performNext } from './fencing-operator.ts'
import {
  cluster,
  drainId,
  type FencedNode,
  type FencingBounds,
  type FencingParts,
  type FencingState,
  machineName,
  nodeNames,
  nowMs,
  tenMinutesMs,
} from './fencing-state.ts'

export const realFencing: FencingParts = { decideFencing, decideFencingPass, storageHolders, holdFence, gateOf }

export interface FencingTransition {
  readonly label: string
  readonly next: FencingState
  readonly isFault?: boolean
  readonly violation?: string | undefined
}

const key = storageKey(cluster)
const claims = [
  { key: `node/${nodeNames[1]}`, uid: '', scope: '' },
  { key, uid: cluster.uid, scope: nodeNames[1] },
]

export function initialFencing({ deaths, hasDrain }: FencingBounds): FencingState {
  const node: FencedNode = { life: 'up', boots: 0, isLabelled: true, isTaken: false, isDirty: false, isFresh: false }
  return {
    nodes: [node, node],
    budget: undefined,
    isPaused: false,
    ledger: emptyLedger,
    isNoticed: true,
    drain: hasDrain ? 'idle' : 'done',
    epoch: 0,
    isLate: false,
    isNoted: false,
    deathsLeft: deaths,
    work: undefined,
  }
}

export function expandFencing(bounds: FencingBounds, parts: FencingParts, state: FencingState): FencingTransition[] {
  return [...operatorOf(parts, state), ...natureOf(bounds, state), ...remediatorOf(state), ...drainOf(parts, state)]
}

export function hasEnded({ nodes, drain, ledger, work, isPaused }: FencingState): boolean {
  const isWell = nodes.every(({ life, isTaken, isDirty }) => life === 'up' && !isTaken && !isDirty)
  return isWell && drain === 'done' && ledger.entries.length === 0 && work === undefined && !isPaused
}

function operatorOf(parts: FencingParts, state: FencingState): FencingTransition[] {
  const { work } = state
  if (work !== undefined) {
    const [step] = work.steps
    const what = step?.do === 'ask' ? 'ask' : step?.what
    return [{ label: `the operator does: ${what}`, next: performNext(parts, state) }]
  }
  if (!isQuiet(parts, state)) return [{ label: 'the operator decides', next: beginPass(parts, state) }]
  const unheld = state.nodes.findIndex(
    ({ isTaken, isLabelled }, index) => isTaken && isLabelled && !isHeldForFence(state, index),
  )
  const violation = unheld < 0 ? undefined : `I12 fencing: ${nodeNames[unheld]} is fenced and its storage is not held`
  return violation === undefined ? [] : [{ label: 'the operator is done', next: state, violation }]
}

/** Or somebody was granted it, has not begun, and steps back: it sees that a fence is under way. */
function isHeldForFence({ ledger }: FencingState, index: number): boolean {
  return ledger.entries.some(
    (entry) => entry.key === key && (entry.scope === nodeNames[index] || entry.state === 'Granted'),
  )
}

/** Fences count from when they were seen: time that passes makes them older. */
function tenMinutesLater(state: FencingState): FencingTransition[] {
  const { budget, work, isNoticed } = state
  const fences = parseFences(budget?.metadata.annotations?.[marks.fences])
  if (budget === undefined || work !== undefined || !isNoticed || !fences.known) return []
  const isOld = [...fences.value.values()].every(({ sinceMs }) => sinceMs < nowMs)
  if (fences.value.size === 0 || (isOld && state.nodes.every(({ isFresh }) => !isFresh))) return []
  const older = [...fences.value].map(([name, fence]) => [name, { ...fence, sinceMs: nowMs - tenMinutesMs }] as const)
  const annotations = { ...budget.metadata.annotations, [marks.fences]: fencesText(new Map(older)) ?? '' }
  const [a, b] = state.nodes
  const nodes = [
    { ...a, isFresh: false },
    { ...b, isFresh: false },
  ] as const
  const next = { ...state, nodes, budget: { ...budget, metadata: { ...budget.metadata, annotations } } }
  return [{ label: 'ten minutes pass', next }]
}

function natureOf({ mayReturn }: FencingBounds, state: FencingState): FencingTransition[] {
  const found = tenMinutesLater(state)
  const { nodes, deathsLeft, isNoticed, drain, isLate } = state
  for (const at of [0, 1] as const) {
    const { life, boots, isTaken, isDirty } = nodes[at]
    if (life === 'up' && deathsLeft > 0) {
      const next = { ...withNode(state, at, { life: 'silent' }), deathsLeft: deathsLeft - 1 }
      found.push({ label: `${nodeNames[at]} falls silent`, next, isFault: true })
    }
    if (mayReturn && life === 'silent' && !isTaken) {
      const next = withNode(state, at, { life: 'up', isFresh: true })
      found.push({ label: `the kubelet of ${nodeNames[at]} answers again`, next })
    }
    if (life === 'down') {
      const next = withNode(state, at, { life: 'up', boots: boots + 1, isTaken: false, isFresh: true })
      found.push({ label: `${nodeNames[at]} is back`, next })
    }
    if (isDirty && life === 'up' && isNoticed && !isTaken)
      found.push({
        label: `the data of ${nodeNames[at]} is in place again`,
        next: withNode(state, at, { isDirty: false }),
      })
  }
  if (!isNoticed) found.push({ label: 'Ceph notices', next: { ...state, isNoticed: true } })
  if (drain === 'away' && nodes[1].life === 'down' && !isLate && isNoticed)
    found.push({ label: 'node-b should be back by now', next: { ...state, isLate: true }, isFault: true })
  return found
}

/** Takes machines that are not Ready, one disruption of the budget for each that the budget selects, and cuts them off. */
function remediatorOf(state: FencingState): FencingTransition[] {
  const { nodes, budget, isPaused, drain, isLate } = state
  return ([0, 1] as const).flatMap((at): FencingTransition[] => {
    const { life, isTaken, isLabelled } = nodes[at]
    const name = nodeNames[at]
    if (isTaken && life !== 'down') return [cut(state, at)]
    if (life === 'up' || isTaken || isPaused) return []
    const status = budget?.status
    const mayTake = status !== undefined && status.disruptionsAllowed > 0 && status.observedGeneration === 1
    if (isLabelled && !mayTake) return []
    const isPlanned = at === 1 && drain === 'away' && life === 'down' && !isLate
    const violation = isPlanned ? `I20 planned: ${name} is fenced while it is rebooted on plan` : undefined
    const taken = withNode(state, at, { isTaken: true })
    if (!isLabelled || budget === undefined || status === undefined)
      return [{ label: `a remediator takes ${name}`, next: taken, violation }]
    const disruptedMachines = { ...status.disruptedMachines, [machineName(at)]: rfc3339(nowMs) }
    const left = { ...status, disruptionsAllowed: status.disruptionsAllowed - 1, disruptedMachines }
    return [
      {
        label: `a remediator is let through for ${name}`,
        next: { ...taken, budget: { ...budget, status: left } },
        violation,
      },
    ]
  })
}

function cut(state: FencingState, at: 0 | 1): FencingTransition {
  const { nodes, ledger } = state
  const name = nodeNames[at]
  // What a fence that is over still holds is released last.
  const isElsewhere = ledger.entries.some(
    (entry) =>
      entry.key === key && entry.state !== 'Granted' && entry.scope !== name && !isFenceRequest(entry.requestId),
  )
  const violation = nodes[1 - at]?.isDirty
    ? `I5 one failure domain: ${name} is cut off while data of the other is away`
    : isElsewhere
      ? `I12 fencing: ${name} is cut off while somebody holds the storage elsewhere`
      : undefined
  const next = { ...withNode(state, at, { life: 'down', isDirty: true }), isNoticed: false }
  return { label: `a remediator cuts ${name} off`, next, violation }
}

/** Somebody reboots node-b by a drain: what is granted is begun only once fencing is seen to be closed. */
function drainOf(parts: FencingParts, state: FencingState): FencingTransition[] {
  const { drain, ledger, epoch, nodes, budget, isNoticed } = state
  const by = { requestId: drainId, epoch }
  const isClean = !isNoticed || nodes.every(({ isDirty }) => !isDirty)
  if (drain === 'idle') {
    if (!isClean || nodes[1].life !== 'up') return []
    const answer = grant(ledger, { requestId: drainId, holder: 'R', claims, now: rfc3339(nowMs) })
    if (!answer.granted) return []
    return [
      {
        label: 'R takes node-b and its storage',
        next: { ...state, ledger: answer.ledger, epoch: answer.epoch, drain: 'granted' },
      },
    ]
  }
  if (drain === 'granted') {
    const gate = budget === undefined ? 'closed' : parts.gateOf(budget, nodeNames[1])
    const begun = intend(ledger, { ...by, bootID: 'boot0' })
    if (gate === 'closed' && isClean && begun.ok && nodes[1].life === 'up')
      return [{ label: 'R begins', next: { ...state, ledger: begun.ledger, drain: 'acting' } }]
    const freed = release(ledger, by)
    if ((gate === 'fence under way' || !isClean || nodes[1].life !== 'up') && freed.ok)
      return [{ label: 'R steps back', next: { ...state, ledger: freed.ledger, drain: 'idle', epoch: 0 } }]
    return []
  }
  if (drain === 'acting') {
    if (nodes[1].boots > 0) return [{ label: 'R sees another boot', next: { ...state, drain: 'away' } }]
    if (nodes[1].life === 'down') return []
    const violation = nodes[0].isDirty
      ? 'I5 one failure domain: node-b goes while data of the other is away'
      : undefined
    const next = { ...withNode(state, 1, { life: 'down', isDirty: true }), isNoticed: false, drain: 'away' as const }
    return [{ label: 'somebody reboots node-b, which may go', next, violation }]
  }
  if (drain !== 'away' || nodes[1].boots === 0 || nodes[1].life !== 'up' || !isNoticed || !isClean) return []
  const freed = release(ledger, by)
  if (!freed.ok) return []
  return [{ label: 'R is over', next: { ...state, ledger: freed.ledger, drain: 'done', epoch: 0 } }]
}

function withNode(state: FencingState, at: 0 | 1, change: Partial<FencedNode>): FencingState {
  const put = (index: 0 | 1) => (index === at ? { ...state.nodes[index], ...change } : state.nodes[index])
  return { ...state, nodes: [put(0), put(1)] }
}
