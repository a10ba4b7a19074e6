import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LedgerEntry } from '../../../ledger/rules/ledger.ts'
import type { Ticket } from '../../../ledger/rules/queue.ts'
import type { StorageArbiter } from '../../../ledger/rules/storage-arbiter.ts'
import { known, unknown } from '../../../shared/observed.ts'
import { decideOsdUpdate, needsCeph } from './decide.ts'
import type { OsdUpdateDecision } from './decision.ts'
import { recordOfGeneration } from './judge-returns.ts'
import { osdsInParallel } from './parallel-limit.ts'
import type { OsdUpdateSnapshot, UpdateRecord } from './snapshot.ts'
import { sortOsds } from './sort-osds.ts'
import { type ExamplePool, exampleCluster } from './testing/example-cluster.ts'
import { HostileWorld } from './testing/hostile-world.ts'
import { formatUpdateRecord, freshRecord, parseUpdateRecord } from './update-record.ts'
import { defaultUpdateSettings, type UpdateSettings } from './update-settings.ts'

const runs = 120
const hostileSteps = 60
const calmSteps = 1_200

interface Run {
  readonly broken: string[]
  readonly starts: number
  readonly freezes: number
  readonly turns: number
  readonly left: readonly number[]
  readonly last: OsdUpdateDecision
}

const pools: readonly Omit<ExamplePool, 'pgCount'>[] = [
  { size: 3, minSize: 2 },
  { size: 3, minSize: 1 },
  { size: 2, minSize: 1 },
  { size: 3, minSize: 2, domain: 'osd' },
  { kind: 'erasure', size: 4, minSize: 3 },
  { kind: 'erasure', size: 5, minSize: 3, domain: 'osd' },
]

/** One update of one random cluster: a long bad time, then a calm one. */
function liveThrough(seed: number): Run {
  const random = seededRandom(seed)
  const next = () => random.next()
  const below = (limit: number) => Math.floor(next() * limit)
  const map = exampleCluster(
    {
      hosts: 3 + below(4),
      osdsPerHost: 1 + below(4),
      pools: Array.from({ length: 1 + below(2) }, () => ({
        ...(pools[below(pools.length)] as (typeof pools)[number]),
        pgCount: 1 + below(24),
      })),
    },
    next,
  )
  const settings: UpdateSettings = {
    ...defaultUpdateSettings,
    maxInParallel:
      below(2) === 0 ? { kind: 'count', count: 1 + below(6) } : { kind: 'percent', percent: 5 + below(95) },
    pace: below(2) === 0 ? 'rolling' : 'barrier',
    order: below(4) === 0 ? 'by-domain' : 'fewest-rounds',
    canary: below(3) === 0,
    soakSeconds: below(4) === 0 ? 30 : 0,
    requiresHealthyPgs: below(6) === 0,
    deadlineSeconds: 300,
  }
  const most = map.osds.length < 3 ? 1 : osdsInParallel(settings.maxInParallel, map.osds.length)
  const world = new HostileWorld(map, next)
  const badShare = next() < 0.5 ? 0 : next() * 0.1
  const broken: string[] = []
  let generation = 1
  let record: UpdateRecord = freshRecord(generation)
  let ours: LedgerEntry | undefined
  let other: LedgerEntry | undefined
  let ticket: Ticket | undefined
  const cordoned = new Set<string>()
  let starts = 0
  let freezes = 0
  let turns = 0

  /** Somebody cordons nodes, and opens some of them again. */
  const turnNodes = (share: number) => {
    for (const name of ['host-0', 'host-1', 'host-2']) {
      if (next() >= share) continue
      if (cordoned.has(name)) cordoned.delete(name)
      else cordoned.add(name)
    }
  }

  const step = (isHostile: boolean): OsdUpdateDecision => {
    const arbiter: StorageArbiter = {
      key: 'storage/rook-ceph/rook-ceph',
      own: [],
      others: [...(ours ? [ours] : []), ...(other ? [other] : [])],
      tickets: ticket ? [ticket] : [],
    }
    const seen: OsdUpdateSnapshot = {
      nowMs: world.nowMs,
      cluster: {
        namespace: 'rook-ceph',
        name: 'rook-ceph',
        uid: 'uid-1',
        generation,
        isBeingDeleted: false,
        mode: 'own',
        settings,
        isUpgrade: true,
      },
      osds: world.updatable(),
      ceph: undefined,
      arbiter: isHostile && next() < 0.05 ? unknown('the API server does not answer') : known(arbiter),
      cordonedNodes: [...cordoned].sort().map((name) => ({ name, runsOsds: next() < 0.95 })),
      record,
    }
    const isSilent = isHostile && next() < 0.1
    const ceph = isSilent ? unknown('no answer') : needsCeph(seen) ? known(world.ceph()) : undefined
    const decision = decideOsdUpdate({ ...seen, ceph })
    judge(decision, { ...seen, ceph })
    // Whoever crashes before anything is written decides again from what there is.
    if (isHostile && next() < 0.05) return decision
    const written = parseUpdateRecord(formatUpdateRecord(decision.record), generation)
    if (!('record' in written)) throw new Error(written.problem)
    if (decision.record.frozen !== undefined && record.frozen === undefined) freezes += 1
    if (decision.claim?.wants === 'hold' && other === undefined) {
      const { requestId, holder, claim } = decision.claim
      ours = { ...claim, requestId, holder, epoch: 1, state: 'Acting', since: '', renewSequence: 0 }
    } else if (decision.claim?.wants === 'hold') broken.push('the claim of somebody else was passed over')
    if (decision.claim?.wants === 'release') ours = undefined
    if (decision.record.turns?.open !== undefined && record.turns?.open === undefined) turns += 1
    record = written.record
    if (decision.start.length > 0 && ours === undefined) broken.push('OSDs start without a claim')
    if (isHostile && next() < 0.15) return decision
    const reached = isHostile && next() < 0.1 ? decision.start.slice(0, 1) : decision.start
    starts += reached.length
    world.update(
      reached,
      () => (!isHostile || next() >= badShare ? 'soon' : next() < 0.5 ? 'late' : 'never'),
      settings.deadlineSeconds * 1000,
    )
    return decision
  }

  function judge(decision: OsdUpdateDecision, shown: OsdUpdateSnapshot): void {
    const { osds, ceph } = shown
    const start = new Set(decision.start)
    if (start.size > 0 && (decision.record.frozen !== undefined || other !== undefined || ceph?.known === false)) {
      broken.push(`${[...start].join()} start although the update is held`)
    }
    if (start.size > 0 && decision.record.turns?.open !== undefined && !settings.requiresHealthyPgs) {
      broken.push(`${[...start].join()} start although it is the turn of a drain`)
    }
    for (const id of start) {
      const osd = osds.find((one) => one.id === id)
      if (osd === undefined || !osd.needsUpdate || osd.leftAlone !== undefined)
        broken.push(`osd.${id} is not to be updated`)
      if (world.osds[id]?.isServing !== true) continue
      for (const pg of world.osds[id]?.pgs ?? []) {
        const left = world.copiesLeft(pg, start)
        if (left < world.floorOf(pg))
          broken.push(`placement group ${pg} is left with ${left} copies without ${[...start].join()}`)
      }
    }
    // One that had come back and died by itself may be one too many; then nobody new may start.
    const out = new Set(sortOsds(shown, recordOfGeneration(shown)).away.map(({ id }) => id))
    const isMore = decision.start.some((id) => !out.has(id))
    if (isMore && decision.progress.running.length > most) {
      broken.push(`${decision.progress.running.length} run where ${most} may`)
    }
  }

  for (let at = 0; at < hostileSteps; at += 1) {
    step(true)
    turnNodes(0.03)
    world.advance(1_000 + below(30_000))
    if (next() < 0.04) world.crash(below(map.osds.length), next() < 0.1)
    if (next() < 0.04) {
      generation += 1
      if (next() < 0.7) world.wantedVersion += 1
    }
    const holder = { requestId: 'drain-1', holder: 'a drain', since: '' }
    if (next() < 0.06 && ours === undefined && other === undefined) {
      other = {
        ...holder,
        key: 'storage/rook-ceph/rook-ceph',
        uid: 'uid-1',
        scope: 'host-1',
        epoch: 2,
        state: 'Acting',
        renewSequence: 0,
      }
    } else if (next() < 0.4) other = undefined
    if (next() < 0.04)
      ticket = { ...holder, number: 1, claims: [{ key: 'storage/rook-ceph/rook-ceph', scope: 'host-1' }] }
    else if (next() < 0.4) ticket = undefined
  }
  other = undefined
  ticket = undefined
  world.healAll()
  if (record.frozen !== undefined || record.failed.length > 0) {
    generation += 1
    world.wantedVersion += 1
  }
  const restless = below(2) === 0 ? 0 : 0.3
  let last = step(false)
  for (let at = 0; at < calmSteps && (last.recheckAfterSeconds !== undefined || last.start.length > 0); at += 1) {
    world.advance(10_000)
    turnNodes(restless)
    last = step(false)
    if (last.record.frozen !== undefined) world.repair(last.record.frozen.osd)
    if (last.reason === 'OsdUpdateBlocked' && at > 60) break
  }
  const left = world.updatable().filter((osd) => osd.needsUpdate && osd.leftAlone === undefined)
  return { broken, starts, freezes, turns, left: left.map(({ id }) => id), last }
}

describe('an update in a world that is against it', () => {
  it('never leaves a placement group below its floor, never runs more than allowed, and starts nothing that is held', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), (seed) => {
        expect(liveThrough(seed).broken).toEqual([])
      }),
      { numRuns: runs },
    )
  })

  it('updates everything in the end that can be updated, though nodes are cordoned again and again, and names what stands in the way of the rest', () => {
    let starts = 0
    let freezes = 0
    let turns = 0
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), (seed) => {
        const run = liveThrough(seed)
        starts += run.starts
        freezes += run.freezes
        turns += run.turns
        const named = new Set([...run.last.blocked, ...run.last.record.failed].map(({ osd }) => osd))
        // Asked for by a setting, and a dead disk keeps it from ever being so.
        const isGated = run.last.reason === 'PgsNotClean'
        const unnamed = isGated ? [] : run.left.filter((osd) => !named.has(osd))
        expect([run.last.progress.running, unnamed, run.last.record.frozen]).toEqual([[], [], undefined])
      }),
      { numRuns: runs },
    )
    expect([starts > runs * 10, freezes > 3, turns > runs]).toEqual([true, true, true])
  })
})
