import { createHash } from 'node:crypto'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { machineConfigPools } from '@cofferdam/kubernetes/api/kinds/machine-config.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { disruptionLedgers } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { poolOfAllNodes } from '../scenarios/testing/machine-config-operator.ts'
import { deedKinds } from './deeds/deed-kinds.ts'
import { detachByHand } from './detach-by-hand.ts'
import { endCircles, endOverrides, moveLastCopies, restartKured, settlePolicy } from './end-circles.ts'
import { observeLeftovers } from './leftovers.ts'
import { openBlame, type Violation } from './oracle/blame.ts'
import { openExcuses } from './oracle/excuses.ts'
import { openOracle } from './oracle/open-oracle.ts'
import { endMsOf } from './stage/hazards.ts'
import { openStage, type Stage } from './stage/open-stage.ts'
import { type Write, writeText } from './stage/witness.ts'
import type { Deed, Story } from './story.ts'

export interface Outcome {
  readonly seed: number
  readonly violations: readonly Violation[]
  /** Of the whole trace: the same twice, or chance came in from outside. */
  readonly hash: string
  readonly trace: readonly string[]
  readonly faults: number
  /** Of the operator. */
  readonly writes: number
  readonly virtualMs: number
  /** Requests that were still waiting at the end, each for a named reason. */
  readonly waits: number
}

export interface RunOptions {
  /** What stands between the operator and the API server, to plant faults of its own. */
  readonly spoil?: (api: KubeApi, stage: () => Stage) => KubeApi
}

const stepMs = 2_000
const convergesWithinMs = 90 * 60_000
const leftoversMs = 15_000
/** By then everything has ended that ends by itself. Whoever is let in by the end of one circle may be in the next. */
const circleMs = 30 * 60_000
const nextCircleMs = 15 * 60_000
/** Renewed seldom, so that a day costs little; a new process must write nothing either. */
const slowLease = { leaseSeconds: 5 * 86_400, renewDeadlineSeconds: 4 * 86_400, retrySeconds: 86_400 }
const dayMs = 24 * 3_600_000
const unwritten = ['leases', 'selfsubjectreviews', 'subjectaccessreviews', 'selfsubjectaccessreviews']

/** Plays a story to its end: the busy time, the way back to calm, and a day without a write. */
export async function runStory(story: Story, { spoil }: RunOptions = {}): Promise<Outcome> {
  const trace: string[] = []
  const current = { writer: 'the cluster' }
  let writes = 0
  let quiet: ((write: Write) => void) | undefined
  let onWrite: (write: Write) => (() => void) | undefined = () => undefined
  let opened: Stage | undefined
  const stageOf = () => opened as Stage
  const secondOf = () => (opened === undefined ? 0 : Math.round((opened.clock.now() - startMs) / 1_000))
  const tell = (line: string) => void trace.push(`t+${String(secondOf()).padEnd(6)} ${line}`)
  let startMs = 0

  const stage = await openStage({
    seed: story.seed,
    shape: story.shape,
    tell,
    current,
    ...(spoil && { spoil: (api: KubeApi) => spoil(api, stageOf) }),
    onWrite(write) {
      if (write.actor === 'operator' && !write.isDryRun && !unwritten.includes(write.type.plural)) {
        writes += 1
        tell(`  ${writeText(write)}`)
        quiet?.(write)
      }
      return onWrite(write)
    },
  })
  opened = stage
  const { clock, processes } = stage
  const { calmMs, leaps } = story.ending
  startMs = clock.now()
  const blame = openBlame(clock, tell)
  const excuses = openExcuses(clock, () => processes)
  const oracle = openOracle(stage, { blame, excuses, writer: () => current.writer })
  onWrite = oracle.onWrite
  const endNodes = stage.server.observe('nodes', ({ type, object }) =>
    oracle.writes.sawNode(object as Node, type === 'DELETED'),
  )

  const step = async (ms: number) => {
    await clock.advance(ms)
    processes.replaceDead()
    oracle.look()
  }

  const mends: (() => unknown)[] = []
  let isHome = false
  const handSet = new Set<string>()
  const contested = new Set<string>()
  const random = seededRandom(story.seed).stream('deeds')
  const perform = (deed: Deed) => {
    const kind = deedKinds[deed.kind]
    const ports = {
      stage,
      excuses,
      writes: oracle.writes,
      random: random.stream(String(deed.number)),
      number: deed.number,
      blame: blame.blame,
      tell,
      handSet,
      contested,
      atHome: (mend: () => unknown) => void mends.push(mend),
      isHome: () => isHome,
    }
    Promise.resolve(kind?.apply(ports)).catch((error: unknown) =>
      tell(`${deed.kind} failed: ${(error as Error).message}`),
    )
  }

  const deeds = [...story.work, ...story.faults].sort((a, b) => a.atMs - b.atMs || a.number - b.number)
  for (const deed of deeds) {
    while (clock.now() - startMs < deed.atMs) await step(Math.min(stepMs, deed.atMs - (clock.now() - startMs)))
    perform(deed)
  }
  for (let rest = 0; rest < calmMs; rest += stepMs) await step(stepMs)

  tell('everybody goes home')
  isHome = true
  for (const mend of mends) await settled(stage, mend())
  excuses.hindered(0)
  let left: string[] = ['everything']
  for (let waitedMs = 0; left.length > 0 && waitedMs < convergesWithinMs; waitedMs += leftoversMs) {
    const { areLeft } = await settled(stage, detachByHand(stage, { evenDegraded: waitedMs >= circleMs }))
    for (let stepped = 0; stepped < leftoversMs; stepped += 5_000) await step(5_000)
    if (waitedMs >= circleMs && (waitedMs - circleMs) % nextCircleMs === 0) {
      for (const name of await settled(stage, endOverrides(stage)))
        tell(`somebody ends ${name}: an override has kept it, or others, from going on`)
      for (const name of await settled(stage, endCircles(stage)))
        tell(`somebody ends ${name}: it and another tool wait for each other`)
      for (const name of await settled(stage, moveLastCopies(stage)))
        tell(`somebody has the only copy of ${name} moved, which another tool waits for`)
      for (const policy of await settled(stage, settlePolicy(stage)))
        tell(`somebody sets ${policy}, since the policy of before leaves copies where they are`)
      for (const name of restartKured(stage))
        tell(`somebody restarts kured on ${name}: it has left out a pod, and the others wait for that`)
    }
    const found = await settled(stage, observeLeftovers(stage, { handSet, contested }))
    left = areLeft ? [...found, 'volumes were attached by hand a moment ago'] : found
  }
  const waits = left.filter((line) => / is (Waiting|Pending|Locking): \S/.test(line) && !line.endsWith('no reason'))
  const wrong = left.filter((line) => !waits.includes(line))
  for (const line of wrong) blame.blame('L1', `an hour and a half after everything was mended, ${line}`)
  tell('everything is calm')

  if (wrong.length === 0) {
    // With the slow lease a process whose first try meets a storm tries again a day later.
    const stormEndsMs = Math.max(endMsOf(stage.hazards), ...processes.running.map(({ hazards }) => endMsOf(hazards)))
    await step(Math.max(0, stormEndsMs - clock.now()) + 60_000)
    await processes.restart(slowLease)
    await step(60_000)
    quiet = (write) => {
      if (!forgetsLocks(stage, write) && !reportsWait(write, waits))
        blame.blame('L8', `nothing happens, and the operator writes: ${writeText(write)}`)
    }
    await step(60_000)
    stage.lifeClock.rest()
    for (let leap = 0; leap < leaps; leap += 1) {
      await clock.leap(dayMs / leaps - 10_000)
      await clock.advance(10_000)
    }
    quiet = undefined
  }
  const virtualMs = clock.now() - startMs
  endNodes()
  oracle.stop()
  await stage.close()
  const hash = createHash('sha256').update(trace.join('\n')).digest('hex').slice(0, 16)
  const { violations } = blame
  return {
    seed: story.seed,
    violations,
    hash,
    trace,
    faults: story.faults.length,
    writes,
    virtualMs,
    waits: waits.length,
  }
}

/**
 * After a leap of hours all that was read before is too old to be believed, so a request that waits says so, and once more when it was
 * read again.
 */
function reportsWait({ type, key, subresource }: Write, waits: readonly string[]): boolean {
  const isOfRequest = (name: string) => waits.some((line) => line.startsWith(`${name} for `))
  if (type.plural === nodeDisruptions.plural) return subresource === 'status' && isOfRequest(key.name)
  // Its place in the queue comes and goes with what it waits for; and a pool of OpenShift is not kept waiting for it for ever.
  if ([disruptionLedgers.plural, machineConfigPools.plural].includes(type.plural)) return waits.length > 0
  const about = key.name.split('.')[0] ?? ''
  return type.plural === 'events' && (isOfRequest(about) || (about === poolOfAllNodes && waits.length > 0))
}

/** How long an owner kept a budget locked is remembered for a while, and then forgotten in one write. */
function forgetsLocks({ views }: Stage, { type }: Write): boolean {
  if (type.plural !== disruptionLedgers.plural) return false
  return [...views.of(disruptionLedgers).values()].some(({ status }) => (status?.appLocks ?? []).length > 0)
}

/** Lets just as much time pass as a promise needs. */
async function settled<T>({ clock }: Stage, promise: T | Promise<T>): Promise<T> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  const answer = Promise.resolve(promise)
  answer.then(over, over)
  await clock.advanceUntil(() => isOver, 60_000)
  return answer
}
