import { type Random, seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { drainPolicyLabel } from '@cofferdam/product/capabilities/longhorn-drain/domain/policy.ts'
import { drainPolicies } from '@cofferdam/product/capabilities/longhorn-drain/domain/snapshot.ts'
import type {
  LonghornDescription,
  VolumeDescription,
} from '@cofferdam/simulator/world/longhorn/longhorn-description.ts'
import { type LonghornFixture, openLonghornFixture, type StagedDrain } from './longhorn-fixture.ts'

export interface Draw {
  /** A number of seconds, to the millisecond. */
  between(least: number, most: number): number
  oneOf<T>(items: readonly T[]): T
  shuffled<T>(items: readonly T[]): T[]
}

/** Until all drains are over, but not for longer. */
export async function waitFor(fixture: LonghornFixture, drains: ReadonlyMap<string, StagedDrain>, seconds = 45) {
  const isOver = () => [...drains.values()].every((drain) => drain.isOver())
  for (let step = 0; step < seconds * 2 && !isOver(); step += 1) await fixture.seconds(0.5)
  return drains
}

/** What goes on at the same time as a drain, drawn anew in each round. */
export interface Race {
  readonly description?: LonghornDescription
  /** Of the volumes with several. Default 2. */
  readonly copies?: number
  /** Drains that were begun, by node. */
  round(fixture: LonghornFixture, draw: Draw, operator: Attendance): Promise<ReadonlyMap<string, StagedDrain>>
}

/** Whether anybody is there. */
export interface Attendance {
  leaves(): void
  comes(): void
}

export const raceNodes = ['node-1', 'node-2', 'node-3', 'node-4']
const mib = 1024 ** 2
const filled = { filled: 0.25, sizeBytes: 256 * mib }
const inUse = ['solo', 'db']
/** Two are in use, one is not. */
export const raceVolumes = [...inUse, 'idle']

/** Reasons that an answer about a node gives for holding it. */
const holdReasons = [
  'LastReplica',
  'ReplicaMoving',
  'ReplicaMustLeave',
  'NoPlaceForReplica',
  'VolumeAttached',
  'VolumeFaulted',
  'InstanceManagerAway',
  'DrainPolicyUnknown',
]

/** Plays rounds of a race on one cluster, which has to be whole again after each of them. Returns what went wrong. */
export async function play(race: Race, { seed, rounds }: { readonly seed: number; readonly rounds: number }) {
  // In every other cluster one volume wants more than the setting does, which Longhorn knows nothing of.
  const labels = { [drainPolicyLabel]: 'block-for-eviction' }
  const volumes: VolumeDescription[] = raceVolumes.map((name) => ({
    name,
    numberOfReplicas: name === 'solo' ? 1 : (race.copies ?? 2),
    ...filled,
    ...(name === 'db' && seed % 2 === 0 ? { labels } : {}),
  }))
  const fixture = await openLonghornFixture(
    {
      volumes,
      timings: { rebuildBytesPerSecond: 8 * mib },
      blocks: { count: 16, bytes: 128 },
      drawnOrder: true,
      ...race.description,
    },
    { nodeCount: raceNodes.length, seed, annotations: seed % 2 === 0 ? {} : { 'cofferdam.io/surplus': 'remove' } },
  )
  const draw = drawFrom(seededRandom(seed * 7_919))
  const found: string[] = []
  try {
    let operator = fixture.operate({ isGuard: true })
    const attendance: Attendance = {
      leaves: () => operator.kill(),
      comes() {
        operator = fixture.operate({ isGuard: true })
      },
    }
    for (const volume of inUse) await fixture.use(volume)
    for (let round = 1; round <= rounds; round += 1) {
      fixture.trace.chapter(`Round ${round} of seed ${seed}`)
      const drains = await race.round(fixture, draw, attendance)
      found.push(...(await unexplained(fixture, drains)))
      for (const drain of drains.values()) drain.giveUp()
      await settle(fixture, race.description?.settings?.['kubernetes-cluster-autoscaler-enabled'] === 'true')
    }
    found.push(...fixture.oracle.violations)
    return found.length === 0 ? [] : [`seed ${seed}: ${found.join('; ')}\n${fixture.trace.text()}`]
  } catch (error) {
    return [`seed ${seed}: ${[...found, ...fixture.oracle.violations].join('; ')} ${(error as Error).message}`]
  } finally {
    await fixture.close()
  }
}

/** Every drain ends, or there is a budget, and an event that names what it waits for. */
async function unexplained(fixture: LonghornFixture, drains: ReadonlyMap<string, StagedDrain>): Promise<string[]> {
  const sentences: string[] = []
  for (const [node, drain] of drains) {
    const isAnswered = async () =>
      drain.isOver() ||
      !fixture.world.kubelet.isOn(node) ||
      (fixture.guarded().includes(node) && holdReasons.includes(await lastAnswer(fixture, node)))
    for (let step = 0; step < 60 && !(await isAnswered()); step += 1) await fixture.seconds(0.5)
    if (!(await isAnswered()))
      sentences.push(`the drain of ${node} waits, and what was said last is ${await lastAnswer(fixture, node)}`)
  }
  return sentences
}

async function lastAnswer(fixture: LonghornFixture, node: string): Promise<string> {
  const told = await fixture.told(node)
  return told.filter((reason) => [...holdReasons, 'ReplicasProtected'].includes(reason)).at(-1) ?? 'nothing'
}

async function settle(fixture: LonghornFixture, isThinned: boolean): Promise<void> {
  for (const node of raceNodes) {
    if (!fixture.world.kubelet.isOn(node)) fixture.world.kubelet.powerOn(node)
    await fixture.cordon(node, false)
  }
  await fixture.setPolicy('block-for-eviction')
  await fixture.until(
    'all is whole and quiet again',
    () =>
      inUse.every((volume) => fixture.robustnessOf(volume) === 'healthy') &&
      fixture.volume('idle').status?.state === 'detached' &&
      fixture.flags().length === 0 &&
      fixture.autoEvicting().length === 0 &&
      (isThinned || fixture.guarded().join() === raceNodes.join()),
    1_800,
  )
  if (!fixture.isIntact(...raceVolumes)) throw new Error(`data is wrong\n${fixture.trace.text()}`)
  fixture.oracle.forgetOutages()
}

function drawFrom(random: Random): Draw {
  const oneOf = <T>(items: readonly T[]) => items[(random.next() * items.length) | 0] as T
  return {
    between: (least, most) => Math.round((least + random.next() * (most - least)) * 1_000) / 1_000,
    oneOf,
    shuffled(items) {
      const left = [...items]
      return items.map(() => left.splice((random.next() * left.length) | 0, 1)[0] as (typeof items)[number])
    },
  }
}

export function drawPolicy(draw: Draw): string {
  return draw.oneOf(drainPolicies.filter((policy) => policy !== 'always-allow'))
}
