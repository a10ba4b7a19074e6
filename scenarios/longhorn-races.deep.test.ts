import { drainPolicies } from '@cofferdam/product/capabilities/longhorn-drain/domain/snapshot.ts'
import { describe, expect, it } from 'vitest'
import { stepOf } from '../test/property-runs.ts'
import type { LonghornFixture } from './testing/longhorn-fixture.ts'
import { type Draw, drawPolicy, play, type Race, raceNodes, raceVolumes, waitFor } from './testing/longhorn-races.ts'

/** Rounds on each of the clusters, twice as many in `npm run test:every`; every one of them is drawn anew. */
const seeds = [1, 2]
const rounds = 10 / stepOf(2)

/** A node that holds a replica of each of these. */
function holderOf(fixture: LonghornFixture, draw: Draw, ...volumes: readonly string[]): string {
  const holders = raceNodes.filter((node) => volumes.every((volume) => fixture.placesOf(volume).includes(node)))
  return draw.oneOf(holders.length === 0 ? raceNodes : holders)
}

/** Where a copy is being built now. */
function targetOf(fixture: LonghornFixture): string | undefined {
  const built = raceVolumes.flatMap((volume) => fixture.replicasOf(volume))
  return built.find(({ spec }) => spec?.nodeID !== '' && spec?.healthyAt === '' && spec.failedAt === '')?.spec?.nodeID
}

async function whileMoving(fixture: LonghornFixture): Promise<string | undefined> {
  for (let step = 0; step < 60 && targetOf(fixture) === undefined; step += 1) await fixture.seconds(0.5)
  return targetOf(fixture)
}

const races: Readonly<Record<string, Race>> = {
  'two nodes are cordoned at the same moment': {
    async round(fixture, draw) {
      await fixture.setPolicy(drawPolicy(draw))
      const first = holderOf(fixture, draw, 'db')
      const second = draw.oneOf(fixture.placesOf('db').filter((node) => node !== first))
      const drains = new Map([[first, fixture.drain(first)]])
      await fixture.seconds(draw.oneOf([0, 0, 0.001, draw.between(0, 3)]))
      drains.set(second, fixture.drain(second))
      return waitFor(fixture, drains)
    },
  },
  'two nodes are cordoned while no operator is there, and then one comes': {
    async round(fixture, draw, operator) {
      await fixture.setPolicy(drawPolicy(draw))
      await fixture.seconds(2)
      operator.leaves()
      const drains = new Map(draw.shuffled(fixture.placesOf('db')).map((node) => [node, fixture.drain(node)]))
      await fixture.seconds(draw.between(5, 20))
      operator.comes()
      return waitFor(fixture, drains)
    },
  },
  'the policy changes in the middle of a drain, again and again': {
    async round(fixture, draw) {
      const node = holderOf(fixture, draw, 'db')
      const drains = new Map([[node, fixture.drain(node)]])
      for (let change = 0; change < 4; change += 1) {
        await fixture.seconds(draw.between(0, 15))
        await fixture.setPolicy(draw.oneOf(drainPolicies.filter((policy) => policy !== 'always-allow')))
      }
      return waitFor(fixture, drains)
    },
  },
  'a node is uncordoned in the middle of a rebuild, and cordoned again': {
    async round(fixture, draw) {
      const node = holderOf(fixture, draw, draw.oneOf(raceVolumes))
      await fixture.cordon(node)
      await whileMoving(fixture)
      await fixture.seconds(draw.between(0, 8))
      await fixture.cordon(node, false)
      await fixture.seconds(draw.oneOf([0, draw.between(0, 10)]))
      const drains = new Map([[node, fixture.drain(node)]])
      return waitFor(fixture, drains)
    },
  },
  'a node dies in the middle of its eviction': {
    async round(fixture, draw) {
      await fixture.setPolicy(draw.oneOf(drainPolicies.filter((policy) => policy.startsWith('block-for'))))
      const node = holderOf(fixture, draw, 'solo')
      const drains = new Map([[node, fixture.drain(node)]])
      await fixture.seconds(draw.between(0.1, 14))
      fixture.world.kubelet.powerOff(node)
      await fixture.seconds(draw.between(20, 80))
      return drains
    },
  },
  'the node that takes the copies dies': {
    async round(fixture, draw) {
      const node = holderOf(fixture, draw, 'solo', 'db')
      const drains = new Map([[node, fixture.drain(node)]])
      const target = (await whileMoving(fixture)) ?? draw.oneOf(raceNodes.filter((name) => name !== node))
      await fixture.seconds(draw.between(0, 8))
      fixture.world.kubelet.powerOff(target)
      await fixture.seconds(draw.between(50, 90))
      return drains
    },
  },
  'all of Longhorn hears late, and a fifth of its writes meet a conflict': {
    description: {
      cacheLagMs: { volume: 1_500, node: 3_000, 'instance-manager': 3_000, attachment: 500, eviction: 2_000 },
      conflictRate: 0.2,
    },
    async round(fixture, draw) {
      await fixture.setPolicy(drawPolicy(draw))
      const [first, second] = draw.shuffled(raceNodes) as [string, string]
      const drains = new Map([[first, fixture.drain(first)]])
      await fixture.seconds(draw.between(0, 10))
      drains.set(second, fixture.drain(second))
      return waitFor(fixture, drains)
    },
  },
  'a last copy is on its way, and the only node that can take it is cordoned': {
    // With every node cordoned, a CSI pod waits at its own budget for a place to come back to, whatever becomes of the copies.
    description: { csi: false },
    async round(fixture, draw) {
      await fixture.setPolicy(draw.oneOf(drainPolicies.filter((policy) => policy.startsWith('block-for'))))
      const [from = ''] = fixture.placesOf('solo')
      const others = draw.shuffled(raceNodes.filter((node) => node !== from))
      for (const node of others.slice(1)) await fixture.cordon(node)
      const target = others[0] as string
      const drains = new Map([[from, fixture.drain(from)]])
      await fixture.seconds(draw.between(0, 12))
      drains.set(target, fixture.drain(target))
      return waitFor(fixture, drains)
    },
  },
  'a node is back and not yet settled when the next one is drained': {
    async round(fixture, draw) {
      await fixture.setPolicy(drawPolicy(draw))
      const [first, second] = draw.shuffled(raceNodes) as [string, string]
      const before = fixture.drain(first)
      await fixture.seconds(draw.between(20, 60))
      before.giveUp()
      fixture.world.kubelet.reboot(first, draw.between(1, 30))
      await fixture.seconds(draw.between(31, 40))
      await fixture.cordon(first, false)
      await fixture.seconds(draw.oneOf([0, draw.between(0, 4)]))
      const drains = new Map([[second, fixture.drain(second)]])
      return waitFor(fixture, drains)
    },
  },
  'budgets are thinned for the autoscaler, and two nodes leave': {
    copies: 3,
    description: { settings: { 'kubernetes-cluster-autoscaler-enabled': 'true' } },
    async round(fixture, draw) {
      await fixture.setPolicy(drawPolicy(draw))
      const [first, second] = draw.shuffled(raceNodes) as [string, string]
      const drains = new Map([[first, fixture.drain(first)]])
      await fixture.seconds(draw.oneOf([0, draw.between(0, 20)]))
      drains.set(second, fixture.drain(second))
      return waitFor(fixture, drains)
    },
  },
}

describe('no volume is left without a healthy copy because of us, and every drain ends or says why', () => {
  it.each(Object.entries(races))('when %s', async (_, race) => {
    const found: string[] = []
    for (const seed of seeds) found.push(...(await play(race, { seed, rounds })))
    expect(found).toEqual([])
  })
})
