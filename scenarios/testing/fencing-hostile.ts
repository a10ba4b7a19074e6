import { machineDisruptionBudgets } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import { type Random, seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { storageNodes } from './fencing-cluster.ts'
import type { RemediatorStyle } from './fencing-remediators.ts'
import { type FencingStage, openFencingStage } from './fencing-stage.ts'

const storage = 5
const osdsPerNode = 2

type Deed = (stage: FencingStage, draw: Draw) => void | Promise<void>

interface Draw {
  below(count: number): number
  oneOf<T>(items: readonly T[]): T
}

function drawFrom(random: Random): Draw {
  const below = (count: number) => Math.min(count - 1, Math.floor(random.next() * count))
  return { below, oneOf: (items) => items[below(items.length)] as (typeof items)[number] }
}

function aNode(stage: FencingStage, draw: Draw): string {
  const present = stage.nodeNames().filter((name) => name.startsWith('storage'))
  return draw.oneOf(present.length === 0 ? storageNodes(storage) : present)
}

/** What cannot be done to a machine that is gone is not done. */
function ifThere(deed: () => void): void {
  try {
    deed()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
}

const budgetKey = { namespace: 'openshift-machine-api', name: 'rook-ceph-rook-ceph' }

/** What befalls machines and data, and what people do; all of it at any moment. */
const deeds: Readonly<Record<string, Deed>> = {
  'a kubelet stops': (stage, draw) => ifThere(() => stage.sicken(aNode(stage, draw))),
  'another kubelet stops': (stage, draw) => ifThere(() => stage.sicken(aNode(stage, draw))),
  'a kubelet is well again': (stage, draw) => ifThere(() => stage.heal(aNode(stage, draw))),
  'a machine dies': (stage, draw) => ifThere(() => stage.kill(aNode(stage, draw))),
  'a machine reboots': (stage, draw) => ifThere(() => stage.reboot(aNode(stage, draw), 5 + draw.below(40))),
  'a disk fails': (stage, draw) => stage.failDisk(draw.below(storage * osdsPerNode)),
  'disks are mended': (stage) => {
    for (let osd = 0; osd < storage * osdsPerNode; osd += 1) stage.ceph[0]?.controls.mendDisk(osd)
  },
  'the mgr dies': (stage, draw) => stage.ceph[0]?.controls.killMgr(5_000 + draw.below(60_000)),
  'Ceph falls silent for a while': (stage, draw) => {
    stage.silenceCeph()
    stage.clock.after(10_000 + draw.below(60_000), () => stage.letCephAnswer())
  },
  'somebody opens the budget by hand': async (stage) => {
    const budget = stage.budgetObject()
    if (budget === undefined) return
    const body = { spec: { maxUnavailable: 3 } }
    await stage.api.patch(machineDisruptionBudgets, budgetKey, { type: 'merge', body }).catch(() => undefined)
  },
  'somebody deletes the budget': async (stage) => {
    await stage.api.delete(machineDisruptionBudgets, budgetKey).catch(() => undefined)
  },
  'somebody takes all labels off': async (stage) => {
    for (const { metadata } of Array.from(stage.views.of(stage.kinds.machines).values())) {
      const body = { metadata: { labels: { 'fencegroup.rook.io/rook-ceph': null } } }
      const key = { namespace: metadata.namespace ?? '', name: metadata.name }
      await stage.api.patch(stage.kinds.machines, key, { type: 'merge', body }).catch(() => undefined)
    }
  },
  'somebody adds a machine that makes no sense': async (stage, draw) => {
    const { machines, namespace } = stage.kinds
    await stage.api
      .create(machines, {
        apiVersion: apiVersionOf(machines),
        kind: 'Machine',
        metadata: {
          name: `odd-${draw.below(1_000_000)}`,
          namespace,
          labels: { 'fencegroup.rook.io/rook-ceph': 'true' },
        },
      })
      .catch(() => undefined)
  },
}

export interface HostileStory {
  readonly seed: number
  readonly remediator: RemediatorStyle
  readonly minutes: number
}

/** A story drawn from a seed; what the oracle found, with what had happened by then. */
export async function tellHostileStory({ seed, remediator, minutes }: HostileStory): Promise<{
  readonly found: readonly string[]
  readonly taken: number
}> {
  const draw = drawFrom(seededRandom(seed * 7_919))
  const stage = await openFencingStage({
    storage,
    osdsPerNode,
    domain: seed % 3 === 0 ? 'zone' : 'host',
    remediator,
    seed,
    remedy: remediator === 'budget' && seed % 2 === 0 ? 'reboot' : 'delete',
    volumes: draw.oneOf(['follow', 'lost'] as const),
    notReadySeconds: 90,
    outAfterSeconds: 120,
    maintenanceMinutes: 1,
    recoveryPgsPerSecond: 8,
    truthEvery: 3,
    timings: { provisionSeconds: 20, terminateSeconds: 5, rebootSeconds: 30 },
  })
  try {
    const operator = stage.operate({ isReplaced: true })
    await stage.seconds(30)
    operator.killAfter(20 + draw.below(100))
    const end = stage.clock.now() + minutes * 60_000
    const names = Object.keys(deeds)
    while (stage.clock.now() < end) {
      const name = draw.oneOf(names)
      stage.trace.chapter(name)
      await deeds[name]?.(stage, draw)
      await stage.seconds(5 + draw.below(60))
    }
    const { violations } = stage.oracle
    return {
      found: violations.length === 0 ? [] : [`seed ${seed} under ${remediator}`, ...violations, stage.trace.text()],
      taken: stage.oracle.taken.length,
    }
  } finally {
    await stage.close()
  }
}
