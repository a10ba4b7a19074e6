import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { describe, expect, it } from 'vitest'
import type { CephMap } from '../../../safety/ceph-map.ts'
import { known } from '../../../shared/observed.ts'
import { decideOsdUpdate } from './decide.ts'
import { planRounds } from './plan-rounds.ts'
import type { OsdUpdateSnapshot } from './snapshot.ts'
import { copiesLost } from './testing/copies-lost.ts'
import { randomCluster } from './testing/random-cluster.ts'
import { nowMs, updateSnapshot } from './testing/update-fixture.ts'
import { freshRecord } from './update-record.ts'
import { defaultUpdateSettings, type UpdateSettings } from './update-settings.ts'

const clusterCount = 250

interface Chance {
  next(): number
  below(limit: number): number
  isLikely(share: number): boolean
}

function chanceOf(seed: number): Chance {
  const random = seededRandom(seed)
  const next = () => random.next()
  return { next, below: (limit) => Math.floor(next() * limit), isLikely: (share) => next() < share }
}

/** Some cluster; where it has racks, its first pool is perhaps stretched over them. */
function someCluster(chance: Chance): CephMap {
  const map = randomCluster(() => chance.next())
  const hasRacks = map.crush.buckets.some(({ type }) => type === 'rack')
  return hasRacks && chance.isLikely(0.5) ? { ...map, sites: [{ poolIds: [1], type: 'rack' }] } : map
}

function someSettings(chance: Chance): UpdateSettings {
  return {
    ...defaultUpdateSettings,
    maxInParallel: { kind: 'percent', percent: 10 + chance.below(91) },
    strategy: (['plan', 'ok-to-stop', 'ok-to-upgrade'] as const)[chance.below(3)] ?? 'plan',
    pace: chance.isLikely(0.3) ? 'barrier' : 'rolling',
    order: chance.isLikely(0.2) ? 'by-domain' : 'fewest-rounds',
    canary: chance.isLikely(0.1),
    reserve: chance.isLikely(0.15) ? 1 : 0,
  }
}

/** The middle of an update: some are done, some on their way, some pods are not ready, and Ceph may name whatever it likes. */
function someMoment(
  map: CephMap,
  chance: Chance,
): { readonly snapshot: OsdUpdateSnapshot; readonly away: Set<number> } {
  const ids = map.osds.map(({ id }) => id)
  const hasStarted = chance.isLikely(0.5)
  const away = new Set<number>()
  const osds = ids.map((id) => {
    const isStarted = hasStarted && chance.isLikely(0.15)
    const isPodReady = !chance.isLikely(isStarted ? 0.6 : 0.03)
    if (!isPodReady) away.add(id)
    return {
      id,
      deployment: `rook-ceph-osd-${id}`,
      needsUpdate: !isStarted && chance.isLikely(0.85),
      ...(isStarted && { startedMs: nowMs - 5_000 }),
      isPodReady,
      hasStalled: false,
    }
  })
  const settings = someSettings(chance)
  const by = settings.strategy === 'ok-to-upgrade' ? 'ok-to-upgrade' : 'ok-to-stop'
  const share = chance.isLikely(0.4) ? 1 : chance.next()
  const proposal = known({ by, osds: ids.filter(() => chance.isLikely(share)), asked: ids } as const)
  const example = updateSnapshot()
  const peered = new Set(map.osds.filter(({ id, isUp }) => isUp && !away.has(id)).map(({ id }) => id))
  const snapshot: OsdUpdateSnapshot = {
    ...example,
    cluster: { ...example.cluster, settings, isUpgrade: settings.strategy === 'ok-to-upgrade' },
    osds,
    ceph: known({ map, isHealthy: true, isClean: known(false), peered }),
    record: { ...freshRecord(1), ...(hasStarted && { startedMs: nowMs - 5_000 }) },
    ...(settings.strategy !== 'plan' && { proposal }),
  }
  return { snapshot, away }
}

describe('by counting the rows of the map, on random clusters, every placement group keeps its floor and each site a copy', () => {
  it('in every round of a plan', () => {
    const chance = chanceOf(21)
    const lost = Array.from({ length: clusterCount }, () => {
      const map = someCluster(chance)
      const targets = map.osds.map(({ id }) => id)
      const reserve = chance.isLikely(0.15) ? 1 : 0
      const canary = chance.isLikely(0.2)
      const { rounds } = planRounds({
        map,
        targets,
        maxParallel: targets.length,
        reserve,
        canary,
        sites: map.sites ?? [],
      })
      return rounds.flatMap((stop) => copiesLost(map, { stop, reserve }))
    })
    expect(lost.flat()).toEqual([])
  })

  it('when OSDs start beside others that are away, whatever Ceph calls safe to stop', () => {
    const chance = chanceOf(22)
    const starts = { plan: 0, 'ok-to-stop': 0, 'ok-to-upgrade': 0 }
    let disagreements = 0
    const lost: string[] = []
    for (let at = 0; at < clusterCount * 4; at += 1) {
      const map = someCluster(chance)
      const { snapshot, away } = someMoment(map, chance)
      const { start: stop, reason } = decideOsdUpdate(snapshot)
      const { strategy, reserve } = snapshot.cluster.settings
      starts[strategy] += stop.length
      if (reason === 'CephDisagrees') disagreements += 1
      lost.push(...copiesLost(map, { stop: stop.filter((id) => !isDown(map, id)), away, reserve }))
    }
    expect(lost).toEqual([])
    const isTold = Object.values(starts).every((count) => count > clusterCount / 5) && disagreements > clusterCount / 5
    expect({ ...starts, disagreements, isTold }).toEqual({ ...starts, disagreements, isTold: true })
  })

  it('which is no matter of course: half of all OSDs at once would take too much from many', () => {
    const chance = chanceOf(23)
    const broken = Array.from({ length: 50 }, () => {
      const map = someCluster(chance)
      return copiesLost(map, { stop: map.osds.slice(0, Math.ceil(map.osds.length / 2)).map(({ id }) => id) })
    })
    expect(broken.filter((lost) => lost.length > 0).length).toBeGreaterThan(40)
  })
})

function isDown(map: CephMap, id: number): boolean {
  return map.osds.some((osd) => osd.id === id && !osd.isUp)
}
