import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { openExcuses } from '../../oracle/excuses.ts'
import { openStage, type Stage } from '../../stage/open-stage.ts'
import type { Write } from '../../stage/witness.ts'
import type { ClusterShape } from '../../story.ts'
import { deedKinds } from '../deed-kinds.ts'

export interface Deeds {
  readonly stage: Stage
  readonly told: readonly string[]
  /** Of the operator. */
  readonly writes: readonly Write[]
  /** Begins the deed of this name; what its number decides is drawn from `seed`. */
  perform(kind: string, seed?: number): Promise<void>
  /** Everybody goes home. */
  mend(): Promise<void>
}

export const smallShape: ClusterShape = {
  file: {
    zones: [{ name: 'a' }, { name: 'b' }, { name: 'c' }],
    nodes: ['a', 'b', 'c'].map((zone) => ({ name: `node-${zone}`, zone, roles: ['worker'] })),
    apps: [{ name: 'web', namespace: 'shop', replicas: 3, spread: 'host', pdb: { maxUnavailable: 1 } }],
  },
  nodes: ['node-a', 'node-b', 'node-c'],
  apps: ['web'],
  osds: [],
  domain: 'host',
  volumes: [],
  hasMachines: false,
  hasKured: false,
}

/** A stage on which single deeds are tried. */
export async function openDeeds(shape: ClusterShape = smallShape, spoil?: (api: KubeApi) => KubeApi): Promise<Deeds> {
  const told: string[] = []
  const writes: Write[] = []
  const mends: (() => unknown)[] = []
  const tell = (line: string) => void told.push(line)
  const stage = await openStage({
    seed: 1,
    shape,
    tell,
    current: { writer: 'the cluster' },
    ...(spoil && { spoil }),
    onWrite(write) {
      if (write.actor === 'operator') writes.push(write)
      return undefined
    },
  })
  const excuses = openExcuses(stage.clock, () => stage.processes)
  const run = async (work: unknown) => {
    let isOver = false
    const over = () => {
      isOver = true
    }
    Promise.resolve(work).then(over, over)
    await stage.clock.advanceUntil(() => isOver, 120_000)
    await work
  }
  return {
    stage,
    told,
    writes,
    perform: (kind, seed = 1) =>
      run(
        deedKinds[kind]?.apply({
          stage,
          excuses,
          writes: { judge: () => undefined, locked() {}, sawNode() {}, restored() {} },
          random: seededRandom(seed),
          number: seed,
          blame() {},
          tell,
          handSet: new Set(),
          contested: new Set(),
          atHome: (mend) => void mends.push(mend),
          isHome: () => false,
        }),
      ),
    async mend() {
      for (const mend of mends) await run(mend())
    },
  }
}
