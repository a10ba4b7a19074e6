import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { type Random, seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { isActive, isReady } from '@cofferdam/simulator/world/pod-facts.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type CephStage, openCephStage } from './testing/ceph-stage.ts'
import { daemonName, type EvictionPace } from './testing/drainer.ts'

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

let stage: CephStage
afterEach(() => stage.close())

const isCalm = () => stage.osdBudgets().join() === 'rook-ceph-osd'

async function openGuarded(seed: number): Promise<void> {
  stage = await openCephStage(threeRacks, { seed })
  stage.startOperator()
  await stage.until('the default budget is there', isCalm, 30)
  await stage.seconds(5)
}

/** `mon.a`, `osd.0` ... that are on the node and not about to leave it. */
const daemonsOn = (node: string) =>
  [...stage.views.of(pods).values()]
    .filter((pod) => pod.spec.nodeName === node && isActive(pod) && pod.metadata.namespace === 'rook-ceph')
    .map(daemonName)
    .sort()

/** From now on: which OSDs have been under two budgets. An eviction that meets that is refused for good, and kubectl gives up. */
function watchForTwoBudgets(): Set<string> {
  const seen = new Set<string>()
  const budgets = stage.views.of(podDisruptionBudgets)
  budgets.subscribe(() => {
    for (const pod of stage.views.of(pods).values()) {
      const over = [...budgets.values()].filter(({ spec }) => isSelected(spec.selector ?? {}, pod.metadata.labels))
      if (pod.metadata.namespace === 'rook-ceph' && over.length > 1) seen.add(daemonName(pod))
    }
  })
  return seen
}

const readyMons = () =>
  [...stage.views.of(pods).values()].filter(
    (pod) => pod.metadata.labels?.['app'] === 'rook-ceph-mon' && isActive(pod) && isReady(pod),
  ).length

/** Waits until one of them has emptied its node, and gives that node back. */
async function giveBackTheFirst(drains: Map<string, { isOver: () => boolean | Promise<boolean> }>): Promise<string> {
  let drained = ''
  let fewestMons = 3
  await stage.until(
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

const upTo = (random: Random, most: number) => Math.floor(random.next() * most)

/** Each pod is asked for at some time of the first moment. */
const scattered =
  (random: Random): EvictionPace =>
  () =>
    upTo(random, 150)

const first =
  (kind: string): EvictionPace =>
  (pod) =>
    daemonName(pod).startsWith(kind) ? 0 : 50

async function allEnd(drains: Map<string, { isOver: () => boolean | Promise<boolean> }>): Promise<void> {
  while (drains.size > 0) await stage.uncordon(await giveBackTheFirst(drains))
  await stage.until('the default budget is back', isCalm)
  await stage.until('all mons are back', () => readyMons() === 3)
  expect(stage.oracle.violations).toEqual([])
}

it('a mon leaves one node and an OSD another at the same instant: one drain takes all, and the other loses nothing and follows', async () => {
  await openGuarded(1)
  const underTwo = watchForTwoBudgets()
  const drains = new Map([
    ['node-left', stage.drain('node-left', first('mon'))],
    ['node-middle', stage.drain('node-middle', first('osd'))],
  ])
  const drained = await giveBackTheFirst(drains)
  const [second = ''] = drains.keys()
  expect(daemonsOn(second).filter((name) => /^(osd|mon)/.test(name))).toHaveLength(3)
  expect([...underTwo]).toEqual([])
  await stage.uncordon(drained)
  await allEnd(drains)
})

it('a mon was deleted from a cordoned node: that node is the first to be emptied, and the other drain loses nothing meanwhile', async () => {
  await openGuarded(1)
  await stage.cordon('node-left')
  const [mon] = [...stage.views.of(pods).values()].filter(
    (pod) => pod.spec.nodeName === 'node-left' && pod.metadata.labels?.['app'] === 'rook-ceph-mon',
  )
  await stage.api.delete(pods, { namespace: 'rook-ceph', name: mon?.metadata.name ?? '' })
  await stage.until('the other racks are held', () => stage.osdBudgets().length === 2, 30)
  const drains = new Map([['node-middle', stage.drain('node-middle')]])
  await stage.seconds(30)
  expect(daemonsOn('node-middle').filter((name) => /^(osd|mon)/.test(name))).toHaveLength(3)
  drains.set('node-left', stage.drain('node-left'))
  await allEnd(drains)
})

/**
 * Between the end of an OSD pod and its replacement Kubernetes expects one OSD less, and a budget by `maxUnavailable` has room again: a slow
 * ReplicaSet controller can let an OSD of a second rack go. PGs on both are short of copies then, and no budget can undo it.
 */
it('Kubernetes lets an OSD of each of two racks go: one node is emptied all the same, the other loses nothing more and follows', async () => {
  await openGuarded(1)
  await stage.cordon('node-left')
  await stage.cordon('node-middle')
  const osds = [...stage.views.of(pods).values()].filter((pod) => daemonName(pod).startsWith('osd'))
  for (const node of ['node-left', 'node-middle']) {
    const name = osds.find((pod) => pod.spec.nodeName === node)?.metadata.name ?? ''
    await stage.api.delete(pods, { namespace: 'rook-ceph', name })
  }
  const drains = new Map([
    ['node-left', stage.drain('node-left')],
    ['node-middle', stage.drain('node-middle')],
  ])
  const drained = await giveBackTheFirst(drains)
  const [second = ''] = drains.keys()
  expect(daemonsOn(second).filter((name) => /^(osd|mon)/.test(name))).toHaveLength(2)
  await stage.uncordon(drained)
  expect(await giveBackTheFirst(drains)).toBe(second)
  await stage.uncordon(second)
  await stage.until('the default budget is back', isCalm)
})

it.each([0, 2, 4, 6, 8])(
  'an operator that is killed after %i more writes, in the middle of two drains, leaves them so that both end',
  async (writes) => {
    await openGuarded(writes + 1)
    const random = seededRandom(300 + writes)
    stage.killOperatorAfter(writes)
    const drains = new Map([
      ['node-left', stage.drain('node-left', scattered(random))],
      ['node-middle', stage.drain('node-middle', scattered(random))],
    ])
    await stage.seconds(20)
    await stage.stopOperator()
    stage.startOperator()
    await stage.seconds(10)
    // Kubectl gives up on a pod under two budgets, and a killed operator may leave one so: that drain is begun anew.
    for (const [node, drain] of drains) {
      if (drain.isOver() && daemonsOn(node).length > 0) drains.set(node, stage.drain(node, scattered(random)))
    }
    await allEnd(drains)
  },
)

describe('drains of several racks at the same moment, in any order of their evictions, all end', () => {
  it.each([1, 2, 3, 4, 5, 6])('two of them, order %i', async (seed) => {
    await openGuarded(seed)
    const random = seededRandom(seed)
    const drains = new Map([['node-left', stage.drain('node-left', scattered(random))]])
    await stage.clock.advance(upTo(random, 60))
    drains.set('node-middle', stage.drain('node-middle', scattered(random)))
    await allEnd(drains)
  })

  it.each([1, 2, 3, 4])('three of them, so that no node is left for a mgr, order %i', async (seed) => {
    await openGuarded(seed)
    const random = seededRandom(100 + seed)
    const drains = new Map([['node-right', stage.drain('node-right', scattered(random))]])
    await stage.clock.advance(upTo(random, 200))
    drains.set('node-left', stage.drain('node-left', scattered(random)))
    await stage.clock.advance(upTo(random, 200))
    drains.set('node-middle', stage.drain('node-middle', scattered(random)))
    await allEnd(drains)
  })

  it.each([1, 2, 3])('one by kubectl, one by a request of ours and one more by kubectl, order %i', async (seed) => {
    await openGuarded(seed)
    const random = seededRandom(200 + seed)
    const name = 'reboot-left'
    await stage.api.create(nodeDisruptions, {
      apiVersion: 'cofferdam.io/v1alpha1',
      kind: 'NodeDisruption',
      metadata: { name },
      spec: { nodeName: 'node-left', intent: 'Reboot', honourSkipDrain: false },
    })
    const phase = async () => (await stage.api.get(nodeDisruptions, { name })).status?.phase
    const drains = new Map<string, { isOver: () => boolean | Promise<boolean> }>([
      ['node-left', { isOver: async () => (await phase()) === 'Drained' }],
    ])
    await stage.clock.advance(upTo(random, 500))
    drains.set('node-middle', stage.drain('node-middle', scattered(random)))
    await stage.clock.advance(upTo(random, 500))
    drains.set('node-right', stage.drain('node-right', scattered(random)))
    await allEnd(drains)
    await stage.until('the request is over', async () => (await phase()) === 'Completed')
  })
})
