import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import { isActive, isReady } from '@cofferdam/simulator/world/pod-facts.ts'
import type { EvictionPace } from '@cofferdam/simulator/world/tools/kubectl-drain.ts'
import { expect } from 'vitest'
import { type CephFixture, openCephFixture } from './ceph-fixture.ts'
import { daemonName } from './drainer.ts'

/** Three racks with a node each; two OSDs and a mon on each node, and a mgr on two of them. With all three cordoned no mgr has a place left. */
const threeRacks = `
pace: { readyAfterSeconds: 3, terminationSeconds: 2 }
zones: [{ name: hall, racks: [left, middle, right] }]
nodes: [{ name: node-left, rack: left }, { name: node-middle, rack: middle }, { name: node-right, rack: right }]
ceph:
  osds: { perNode: 2 }
  mons: 3
  mgrs: 2
  pools: [{ name: replicapool, failureDomain: rack }, { name: .mgr, failureDomain: rack, pgs: 1 }]
  pace: { recoveryPgsPerSecond: 4, outAfterSeconds: 600 }
`

export type RunningDrains = Map<string, { isOver: () => boolean | Promise<boolean> }>

export interface ThreeRacks {
  readonly fixture: CephFixture
  isCalm(): boolean
  /** `mon.a`, `osd.0` ... that are on the node and not about to leave it. */
  daemonsOn(node: string): string[]
  /** From now on: which OSDs have been under two budgets. An eviction that meets that is refused for good, and kubectl gives up. */
  watchForTwoBudgets(): Set<string>
  /** Waits until one of the drains has emptied its node; the drain is taken from the list, and the node told. */
  untilFirstIsDrained(drains: RunningDrains): Promise<string>
  /** Gives each node back as soon as it is empty, until nothing is left to drain and all is as before. */
  untilAllEnd(drains: RunningDrains): Promise<void>
}

/** The whole operator on that cluster, with everything at rest. */
export async function openThreeRacks(
  seed: number,
  {
    services = '',
    prepare = async () => {},
  }: {
    /** More lines of the section `ceph`. */
    readonly services?: string
    /** Before the operator starts. */
    readonly prepare?: (fixture: CephFixture) => Promise<void>
  } = {},
): Promise<ThreeRacks> {
  const fixture = await openCephFixture(`${threeRacks}${services}`, { seed })
  const isCalm = () => fixture.osdBudgets().join() === 'rook-ceph-osd'
  const cephPods = () => [...fixture.views.of(pods).values()].filter((pod) => pod.metadata.namespace === 'rook-ceph')
  const readyMons = () =>
    cephPods().filter((pod) => pod.metadata.labels?.['app'] === 'rook-ceph-mon' && isActive(pod) && isReady(pod)).length
  const daemonsOn = (node: string) =>
    cephPods()
      .filter((pod) => pod.spec.nodeName === node && isActive(pod))
      .map(daemonName)
      .sort()

  function watchForTwoBudgets(): Set<string> {
    const seen = new Set<string>()
    const budgets = fixture.views.of(podDisruptionBudgets)
    budgets.subscribe(() => {
      for (const pod of cephPods()) {
        const over = [...budgets.values()].filter(({ spec }) => isSelected(spec.selector ?? {}, pod.metadata.labels))
        if (over.length > 1) seen.add(daemonName(pod))
      }
    })
    return seen
  }

  async function untilFirstIsDrained(drains: RunningDrains): Promise<string> {
    let drained = ''
    let fewestMons = 3
    await fixture.until(
      `one of ${[...drains.keys()].join(', ')} is drained`,
      async () => {
        fewestMons = Math.min(fewestMons, readyMons())
        for (const [node, drain] of drains) if (await drain.isOver()) drained = node
        return drained !== ''
      },
      240,
    )
    expect(fewestMons).toBeGreaterThanOrEqual(2)
    expect(daemonsOn(drained)).toEqual([])
    drains.delete(drained)
    return drained
  }

  async function untilAllEnd(drains: RunningDrains): Promise<void> {
    while (drains.size > 0) await fixture.uncordon(await untilFirstIsDrained(drains))
    await fixture.until('the default budget is back', isCalm)
    await fixture.until('all mons are back', () => readyMons() === 3)
    expect(fixture.oracle.violations).toEqual([])
  }

  await prepare(fixture)
  fixture.startOperator()
  await fixture.until('the default budget is there', isCalm, 30)
  await fixture.seconds(5)
  return { fixture, isCalm, daemonsOn, watchForTwoBudgets, untilFirstIsDrained, untilAllEnd }
}

export const upTo = (random: Random, most: number) => Math.floor(random.next() * most)

/** Each pod is asked for at some time of the first moment. */
export const scattered =
  (random: Random): EvictionPace =>
  () =>
    upTo(random, 150)
