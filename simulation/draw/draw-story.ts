import { type Random, seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { addedWork, widerFromSeed } from '../deeds/added-work.ts'
import { addedFaults, firstFaultKinds } from '../deeds/fault-kinds.ts'
import { workKinds } from '../deeds/work-kinds.ts'
import { between, type ClusterShape, type Deed, oneOf, type Story, type StoryEnding } from '../story.ts'
import { type ClusterMeasure, drawCluster } from './draw-cluster.ts'

/** How much a story holds. Counts are from the first number on, and less than the second. */
interface Measure {
  readonly cluster: ClusterMeasure
  /** How long people work and things break. */
  readonly busyMs: number
  readonly work: readonly [number, number]
  readonly faults: readonly [number, number]
  readonly ending: StoryEnding
}

const whole: Measure = {
  cluster: { nodes: [3, 8], apps: [1, 4], ceph: 0.75, longhorn: 0.35, machines: 0.3, kured: 0.25 },
  busyMs: 6 * 60_000,
  work: [1, 5],
  faults: [0, 7],
  ending: { calmMs: 90_000, leaps: 12 },
}

/** One or two people and one or two faults in a small cluster: most bugs need no more, and many of them can be played. */
const short: Measure = {
  cluster: { nodes: [3, 5], apps: [1, 2], ceph: 0.6, longhorn: 0.25, machines: 0.2, kured: 0.1 },
  busyMs: 75_000,
  work: [1, 3],
  faults: [0, 3],
  ending: { calmMs: 30_000, leaps: 2 },
}

/** One seed decides everything: the cluster, what people do with it, and what breaks. */
export function drawStory(seed: number, { isShort = false } = {}): Story {
  const random = seededRandom(seed).stream('story')
  const { cluster, busyMs, work, faults, ending } = isShort ? short : whole
  const wide = seed >= widerFromSeed ? random.stream('wider cluster') : undefined
  const shape = drawCluster(random.stream('cluster'), cluster, wide)
  const drawSome = (name: string, kinds: Kinds, first: number, [least, most]: readonly [number, number]) =>
    drawDeeds(random.stream(name), shape, kinds, { first, count: between(random, least, most), busyMs })
  return {
    seed,
    shape,
    work: [
      ...drawSome('work', workKinds, 0, work),
      ...addedWork
        .filter(({ fromSeed }) => seed >= fromSeed)
        .flatMap(({ name, kinds, number, count }) =>
          drawSome(name, kinds, number, isShort ? count.short : count.whole),
        ),
    ],
    faults: [
      ...drawSome('faults', firstFaultKinds, 100, faults),
      ...addedFaults
        .filter(({ fromSeed }) => seed >= fromSeed)
        .flatMap(({ name, kinds, number, count }) =>
          drawSome(name, kinds, number, isShort ? count.short : count.whole),
        ),
    ],
    ending,
  }
}

interface DrawnKind {
  readonly fits: (shape: ClusterShape) => boolean
}

type Kinds = Readonly<Record<string, DrawnKind>>

function drawDeeds(
  random: Random,
  shape: ClusterShape,
  kinds: Kinds,
  { first, count, busyMs }: { readonly first: number; readonly count: number; readonly busyMs: number },
): Deed[] {
  const fitting = Object.keys(kinds).filter((kind) => kinds[kind]?.fits(shape) === true)
  const moments = [between(random, 0, busyMs), between(random, 0, busyMs), between(random, 0, busyMs)]
  return Array.from({ length: count }, (_, index) => ({
    number: first + index,
    kind: oneOf(random, fitting),
    // Often several at the same moment: that is where they meet.
    atMs: random.next() < 0.5 ? oneOf(random, moments) : between(random, 0, busyMs),
  }))
}
