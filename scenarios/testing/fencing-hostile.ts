import { machineDisruptionBudgets } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import { type Random, seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { storageNodes } from './fencing-cluster.ts'
import { type FencingFixture, openFencingFixture } from './fencing-fixture.ts'
import type { RemediatorStyle } from './fencing-remediators.ts'

const storage = 5
const osdsPerNode = 2

type Deed = (fixture: FencingFixture, draw: Draw) => void | Promise<void>

interface Draw {
  below(count: number): number
  oneOf<T>(items: readonly T[]): T
}

function drawFrom(random: Random): Draw {
  const below = (count: number) => Math.min(count - 1, Math.floor(random.next() * count))
  return { below, oneOf: (items) => items[below(items.length)] as (typeof items)[number] }
}

function aNode(fixture: FencingFixture, draw: Draw): string {
  const present = fixture.nodeNames().filter((name) => name.startsWith('storage'))
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
  'a kubelet stops': (fixture, draw) => ifThere(() => fixture.sicken(aNode(fixture, draw))),
  'another kubelet stops': (fixture, draw) => ifThere(() => fixture.sicken(aNode(fixture, draw))),
  'a kubelet is well again': (fixture, draw) => ifThere(() => fixture.heal(aNode(fixture, draw))),
  'a machine dies': (fixture, draw) => ifThere(() => fixture.kill(aNode(fixture, draw))),
  'a machine reboots': (fixture, draw) => ifThere(() => fixture.reboot(aNode(fixture, draw), 5 + draw.below(40))),
  'a disk fails': (fixture, draw) => fixture.failDisk(draw.below(storage * osdsPerNode)),
  'disks are mended': (fixture) => {
    for (let osd = 0; osd < storage * osdsPerNode; osd += 1) fixture.ceph[0]?.controls.mendDisk(osd)
  },
  'the mgr dies': (fixture, draw) => fixture.ceph[0]?.controls.killMgr(5_000 + draw.below(60_000)),
  'Ceph falls silent for a while': (fixture, draw) => {
    fixture.silenceCeph()
    fixture.clock.after(10_000 + draw.below(60_000), () => fixture.letCephAnswer())
  },
  'somebody opens the budget by hand': async (fixture) => {
    const budget = fixture.budgetObject()
    if (budget === undefined) return
    const body = { spec: { maxUnavailable: 3 } }
    await fixture.api.patch(machineDisruptionBudgets, budgetKey, { type: 'merge', body }).catch(() => undefined)
  },
  'somebody deletes the budget': async (fixture) => {
    await fixture.api.delete(machineDisruptionBudgets, budgetKey).catch(() => undefined)
  },
  'somebody takes all labels off': async (fixture) => {
    for (const { metadata } of Array.from(fixture.views.of(fixture.kinds.machines).values())) {
      const body = { metadata: { labels: { 'fencegroup.rook.io/rook-ceph': null } } }
      const key = { namespace: metadata.namespace ?? '', name: metadata.name }
      await fixture.api.patch(fixture.kinds.machines, key, { type: 'merge', body }).catch(() => undefined)
    }
  },
  'somebody adds a machine that makes no sense': async (fixture, draw) => {
    const { machines, namespace } = fixture.kinds
    await fixture.api
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

/** One of them, drawn; says which. */
export async function doHostileDeed(fixture: FencingFixture, random: Random): Promise<string> {
  const draw = drawFrom(random)
  const name = draw.oneOf(Object.keys(deeds))
  fixture.trace.chapter(name)
  await deeds[name]?.(fixture, draw)
  return name
}

export interface HostileScenario {
  readonly seed: number
  readonly remediator: RemediatorStyle
  readonly minutes: number
}

/** A story drawn from a seed; what the oracle found, with what had happened by then. */
export async function tellHostileScenario({ seed, remediator, minutes }: HostileScenario): Promise<{
  readonly found: readonly string[]
  readonly taken: number
}> {
  const random = seededRandom(seed * 7_919)
  const draw = drawFrom(random)
  const fixture = await openFencingFixture({
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
    const operator = fixture.operate({ isReplaced: true })
    await fixture.seconds(30)
    operator.killAfter(20 + draw.below(100))
    const end = fixture.clock.now() + minutes * 60_000
    while (fixture.clock.now() < end) {
      await doHostileDeed(fixture, random)
      await fixture.seconds(5 + draw.below(60))
    }
    const { violations } = fixture.oracle
    return {
      found: violations.length === 0 ? [] : [`seed ${seed} under ${remediator}`, ...violations, fixture.trace.text()],
      taken: fixture.oracle.taken.length,
    }
  } finally {
    await fixture.close()
  }
}
