import { drainPolicies } from '@cofferdam/product/capabilities/longhorn-drain/domain/snapshot.ts'
import { describe, expect, it } from 'vitest'
import { type Draw, drawPolicy, play, type Race, raceNodes, raceVolumes, waitFor } from './testing/longhorn-races.ts'
import type { LonghornStage } from './testing/longhorn-stage.ts'

/** Rounds on each of the clusters; every one of them is drawn anew. */
const seeds = [1, 2]
const rounds = 10

/** A node that holds a replica of each of these. */
function holderOf(stage: LonghornStage, draw: Draw, ...volumes: readonly string[]): string {
  const holders = raceNodes.filter((node) => volumes.every((volume) => stage.placesOf(volume).includes(node)))
  return draw.oneOf(holders.length === 0 ? raceNodes : holders)
}

/** Where a copy is being built now. */
function targetOf(stage: LonghornStage): string | undefined {
  const built = raceVolumes.flatMap((volume) => stage.replicasOf(volume))
  return built.find(({ spec }) => spec?.nodeID !== '' && spec?.healthyAt === '' && spec.failedAt === '')?.spec?.nodeID
}

async function whileMoving(stage: LonghornStage): Promise<string | undefined> {
  for (let step = 0; step < 60 && targetOf(stage) === undefined; step += 1) await stage.seconds(0.5)
  return targetOf(stage)
}

const races: Readonly<Record<string, Race>> = {
  'two nodes are cordoned at the same moment': {
    async round(stage, draw) {
      await stage.setPolicy(drawPolicy(draw))
      const first = holderOf(stage, draw, 'db')
      const second = draw.oneOf(stage.placesOf('db').filter((node) => node !== first))
      const drains = new Map([[first, stage.drain(first)]])
      await stage.seconds(draw.oneOf([0, 0, 0.001, draw.between(0, 3)]))
      drains.set(second, stage.drain(second))
      return waitFor(stage, drains)
    },
  },
  'two nodes are cordoned while no operator is there, and then one comes': {
    async round(stage, draw, operator) {
      await stage.setPolicy(drawPolicy(draw))
      await stage.seconds(2)
      operator.leaves()
      const drains = new Map(draw.shuffled(stage.placesOf('db')).map((node) => [node, stage.drain(node)]))
      await stage.seconds(draw.between(5, 20))
      operator.comes()
      return waitFor(stage, drains)
    },
  },
  'the policy changes in the middle of a drain, again and again': {
    async round(stage, draw) {
      const node = holderOf(stage, draw, 'db')
      const drains = new Map([[node, stage.drain(node)]])
      for (let change = 0; change < 4; change += 1) {
        await stage.seconds(draw.between(0, 15))
        await stage.setPolicy(draw.oneOf(drainPolicies.filter((policy) => policy !== 'always-allow')))
      }
      return waitFor(stage, drains)
    },
  },
  'a node is uncordoned in the middle of a rebuild, and cordoned again': {
    async round(stage, draw) {
      const node = holderOf(stage, draw, draw.oneOf(raceVolumes))
      await stage.cordon(node)
      await whileMoving(stage)
      await stage.seconds(draw.between(0, 8))
      await stage.cordon(node, false)
      await stage.seconds(draw.oneOf([0, draw.between(0, 10)]))
      const drains = new Map([[node, stage.drain(node)]])
      return waitFor(stage, drains)
    },
  },
  'a node dies in the middle of its eviction': {
    async round(stage, draw) {
      await stage.setPolicy(draw.oneOf(drainPolicies.filter((policy) => policy.startsWith('block-for'))))
      const node = holderOf(stage, draw, 'solo')
      const drains = new Map([[node, stage.drain(node)]])
      await stage.seconds(draw.between(0.1, 14))
      stage.world.kubelet.powerOff(node)
      await stage.seconds(draw.between(20, 80))
      return drains
    },
  },
  'the node that takes the copies dies': {
    async round(stage, draw) {
      const node = holderOf(stage, draw, 'solo', 'db')
      const drains = new Map([[node, stage.drain(node)]])
      const target = (await whileMoving(stage)) ?? draw.oneOf(raceNodes.filter((name) => name !== node))
      await stage.seconds(draw.between(0, 8))
      stage.world.kubelet.powerOff(target)
      await stage.seconds(draw.between(50, 90))
      return drains
    },
  },
  'all of Longhorn hears late, and a fifth of its writes meet a conflict': {
    description: {
      cacheLagMs: { volume: 1_500, node: 3_000, 'instance-manager': 3_000, attachment: 500, eviction: 2_000 },
      conflictRate: 0.2,
    },
    async round(stage, draw) {
      await stage.setPolicy(drawPolicy(draw))
      const [first, second] = draw.shuffled(raceNodes) as [string, string]
      const drains = new Map([[first, stage.drain(first)]])
      await stage.seconds(draw.between(0, 10))
      drains.set(second, stage.drain(second))
      return waitFor(stage, drains)
    },
  },
  'a last copy is on its way, and the only node that can take it is cordoned': {
    // With every node cordoned, a CSI pod waits at its own budget for a place to come back to, whatever becomes of the copies.
    description: { csi: false },
    async round(stage, draw) {
      await stage.setPolicy(draw.oneOf(drainPolicies.filter((policy) => policy.startsWith('block-for'))))
      const [from = ''] = stage.placesOf('solo')
      const others = draw.shuffled(raceNodes.filter((node) => node !== from))
      for (const node of others.slice(1)) await stage.cordon(node)
      const target = others[0] as string
      const drains = new Map([[from, stage.drain(from)]])
      await stage.seconds(draw.between(0, 12))
      drains.set(target, stage.drain(target))
      return waitFor(stage, drains)
    },
  },
  'a node is back and not yet settled when the next one is drained': {
    async round(stage, draw) {
      await stage.setPolicy(drawPolicy(draw))
      const [first, second] = draw.shuffled(raceNodes) as [string, string]
      const before = stage.drain(first)
      await stage.seconds(draw.between(20, 60))
      before.giveUp()
      stage.world.kubelet.reboot(first, draw.between(1, 30))
      await stage.seconds(draw.between(31, 40))
      await stage.cordon(first, false)
      await stage.seconds(draw.oneOf([0, draw.between(0, 4)]))
      const drains = new Map([[second, stage.drain(second)]])
      return waitFor(stage, drains)
    },
  },
  'budgets are thinned for the autoscaler, and two nodes leave': {
    copies: 3,
    description: { settings: { 'kubernetes-cluster-autoscaler-enabled': 'true' } },
    async round(stage, draw) {
      await stage.setPolicy(drawPolicy(draw))
      const [first, second] = draw.shuffled(raceNodes) as [string, string]
      const drains = new Map([[first, stage.drain(first)]])
      await stage.seconds(draw.oneOf([0, draw.between(0, 20)]))
      drains.set(second, stage.drain(second))
      return waitFor(stage, drains)
    },
  },
}

describe('no volume is left without a healthy copy because of us, and every drain ends or says why', () => {
  it.each(Object.entries(races))(
    'when %s',
    async (_, race) => {
      const found: string[] = []
      for (const seed of seeds) found.push(...(await play(race, { seed, rounds })))
      expect(found).toEqual([])
    },
    120_000,
  )
})
