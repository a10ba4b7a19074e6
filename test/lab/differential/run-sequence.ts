import { setTimeout as pause } from 'node:timers/promises'
import type { Json } from '@cofferdam/kubernetes/api/json.ts'
import { type Difference, differencesOf } from './compare.ts'
import { Normaliser } from './normalise.ts'
import { performPages, performRequest, readBudgets } from './perform-step.ts'
import type { Side } from './side.ts'
import { SideMemory } from './side-memory.ts'
import type { Sequence, Step, WatchStep } from './step.ts'

export interface Pair<T> {
  readonly real: T
  readonly embedded: T
}

/** A step that the two servers answered differently. */
export interface Divergence {
  readonly sequence: Sequence
  readonly namespace: string
  /** Which step of the sequence. */
  readonly at: number
  readonly answers: Pair<Json>
  readonly differences: readonly Difference[]
}

/** Whether a difference is known and listed. */
export type Excuse = (step: Step, difference: Difference, answers: Pair<Json>) => boolean

export interface SequenceResult {
  /** How many requests were answered alike. */
  readonly compared: number
  readonly divergence?: Divergence
}

interface Seat {
  readonly side: Side
  readonly memory: SideMemory
  readonly normaliser: Normaliser
}

const settlePollMs = 25
/** From when both controllers have counted every budget as it is now. */
const settleMs = 4_000
/** A controller on a busy machine may be late with all that it has to count. */
const countingMs = 60_000
/** How long both controllers must have said the same before it counts. */
const calmMs = 75

interface Generation {
  readonly generation?: number
}

interface Observed {
  readonly observedGeneration?: number
}

const endsStory = /^code$|^body\.items.*\.status\.(expectedPods|currentHealthy|desiredHealthy|disruptionsAllowed)$/

/** Asks both servers the same, step by step, in a namespace of its own, until they answer differently. */
export async function runSequence(
  sides: Pair<Side>,
  { sequence, namespace, excuse }: { readonly sequence: Sequence; readonly namespace: string; readonly excuse: Excuse },
): Promise<SequenceResult> {
  const [real, embedded] = await Promise.all([
    openSeat(sides.real, namespace, sequence),
    openSeat(sides.embedded, namespace, sequence),
  ])
  const seats: Pair<Seat> = { real, embedded }
  const pausesBudgets = sequence.budgets === 'paused'
  let compared = 0
  try {
    if (pausesBudgets) await onBoth(seats, ({ side }) => side.pauseBudgets())
    for (const [at, general] of sequence.steps.entries()) {
      const step = JSON.parse(JSON.stringify(general).replaceAll('{ns}', namespace)) as Step
      const answers = await ask(seats, step, namespace, (difference, pair) => excuse(step, difference, pair))
      compared += 1
      const differences = unexcused(answers, (difference) => excuse(step, difference, answers))
      if (differences.length > 0) {
        return { compared, divergence: { sequence, namespace, at, answers, differences } }
      }
      // After a known refusal by one of them, or where their controllers count differently, the two tell different stories.
      if (differencesOf(answers.real, answers.embedded).some(({ path }) => endsStory.test(path))) return { compared }
    }
    return { compared }
  } finally {
    if (pausesBudgets) await onBoth(seats, ({ side }) => side.resumeBudgets())
    await onBoth(seats, ({ side }) => clearAway(side, namespace))
  }
}

async function openSeat(side: Side, namespace: string, { budgets }: Sequence): Promise<Seat> {
  const home: Json = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
  const { body } = await side.send({ method: 'POST', path: '/api/v1/namespaces', body: home })
  const { resourceVersion } = (body as { readonly metadata: { readonly resourceVersion: string } }).metadata
  return {
    side,
    memory: new SideMemory(resourceVersion),
    normaliser: new Normaliser({ hasLiveBudgets: budgets === 'live' }),
  }
}

async function onBoth<T>(seats: Pair<Seat>, act: (seat: Seat) => Promise<T>): Promise<Pair<T>> {
  const [real, embedded] = await Promise.all([act(seats.real), act(seats.embedded)])
  return { real, embedded }
}

type Judge = (difference: Difference, answers: Pair<Json>) => boolean

async function ask(seats: Pair<Seat>, step: Step, namespace: string, judge: Judge): Promise<Pair<Json>> {
  switch (step.asks) {
    case 'request':
      return normalised(seats, await onBoth(seats, ({ side, memory }) => performRequest(side, memory, step)))
    case 'pages':
      return normalised(seats, await onBoth(seats, ({ side, memory }) => performPages(side, memory, step)))
    case 'watch':
      return watchBoth(seats, step)
    case 'settle-budgets':
      return settle(seats, namespace, judge)
  }
}

function normalised(seats: Pair<Seat>, answers: Pair<unknown>): Pair<Json> {
  return {
    real: seats.real.normaliser.normalise(answers.real as Json),
    embedded: seats.embedded.normaliser.normalise(answers.embedded as Json),
  }
}

function unexcused(answers: Pair<Json>, isKnown: (difference: Difference) => boolean): Difference[] {
  return differencesOf(answers.real, answers.embedded).filter((difference) => !isKnown(difference))
}

/** The embedded server tells the past at once; the real one is waited for until it has told as much. */
async function watchBoth(seats: Pair<Seat>, { path, query }: WatchStep): Promise<Pair<Json>> {
  const open = ({ side, memory }: Seat, expected: number) =>
    side.watch(memory.resolveText(`${path}?watch=1&${query}`), (events) => events.length >= expected)
  const embedded = await open(seats.embedded, 0)
  const real = await open(seats.real, embedded.events.length)
  return normalised(seats, { real, embedded })
}

/** Waits until both controllers say the same for a moment; what they still disagree on after that is a difference. */
async function settle(seats: Pair<Seat>, namespace: string, judge: Judge): Promise<Pair<Json>> {
  const began = performance.now()
  let sameSince: number | undefined
  let countedAt: number | undefined
  for (;;) {
    await pause(settlePollMs)
    const answers = normalised(seats, await onBoth(seats, ({ side }) => readBudgets(side, namespace)))
    const now = performance.now()
    const isSame = unexcused(answers, (difference) => judge(difference, answers)).length === 0
    sameSince = isSame ? (sameSince ?? now) : undefined
    if (sameSince !== undefined && now - sameSince >= calmMs) return answers
    if (areCounted(answers.real) && areCounted(answers.embedded)) countedAt ??= now
    if (now - (countedAt ?? now) > settleMs || now - began > countingMs) return answers
  }
}

function areCounted(answer: Json): boolean {
  const { body } = answer as unknown as {
    readonly body: { readonly items?: readonly { readonly metadata: Generation; readonly status?: Observed }[] }
  }
  return body.items?.every(({ metadata, status }) => status?.observedGeneration === metadata.generation) !== false
}

/** Addresses of services are few, and cluster-wide objects would show in the lists of later sequences. */
async function clearAway(side: Side, namespace: string): Promise<void> {
  await side.send({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}/services` })
  await side.send({ method: 'DELETE', path: `/api/v1/nodes?labelSelector=sequence=${namespace}` })
}
