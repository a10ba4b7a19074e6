import { type Random, seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { faultKinds } from '../deeds/fault-kinds.ts'
import { workKinds } from '../deeds/work-kinds.ts'
import { between, type ClusterShape, type Deed, oneOf, type Story } from '../story.ts'
import { drawCluster } from './draw-cluster.ts'

/** How long people work and things break. */
const busyMs = 6 * 60_000

/** One seed decides everything: the cluster, what people do with it, and what breaks. */
export function drawStory(seed: number): Story {
  const random = seededRandom(seed).stream('story')
  const shape = drawCluster(random.stream('cluster'))
  return {
    seed,
    shape,
    work: drawDeeds(random.stream('work'), shape, workKinds, { first: 0, count: between(random, 1, 5) }),
    faults: drawDeeds(random.stream('faults'), shape, faultKinds, { first: 100, count: between(random, 0, 7) }),
  }
}

interface DrawnKind {
  readonly fits: (shape: ClusterShape) => boolean
}

function drawDeeds(
  random: Random,
  shape: ClusterShape,
  kinds: Readonly<Record<string, DrawnKind>>,
  { first, count }: { readonly first: number; readonly count: number },
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
