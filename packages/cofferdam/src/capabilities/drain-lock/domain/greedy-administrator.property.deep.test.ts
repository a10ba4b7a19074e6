import fc from 'fast-check'
import { expect, it } from 'vitest'
import { emptyLedger } from '../../../ledger/rules/ledger.ts'
import { minutes } from './testing/fixture.ts'
import { SmallCluster } from './testing/small-cluster.ts'

const happenings = [
  ...(['look', 'look', 'look', 'look', 'look', 'die', 'fail', 'count', 'replace', 'start', 'reboot', 'boot'] as const),
  ...(['sleep', 'wake', 'wait', 'cancel', 'lock', 'wipe'] as const),
]

const scenario = fc.record({
  nodes: fc.integer({ min: 2, max: 4 }),
  apps: fc.array(
    fc.record({
      stays: fc.constantFrom('all', 'none', 'even', 'odd'),
      replicas: fc.integer({ min: 2, max: 4 }),
      maxUnavailable: fc.integer({ min: 1, max: 2 }),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  wanted: fc.array(fc.nat(3), { minLength: 1, maxLength: 3 }),
  isGuardUp: fc.boolean(),
  events: fc.array(
    fc.record({
      what: fc.constantFrom(...happenings),
      which: fc.nat(20),
      steps: fc.nat(5),
      greed: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(fc.nat(20), { maxLength: 3 })),
    }),
    { minLength: 10, maxLength: 60 },
  ),
})

function begin({
  nodes,
  apps,
  wanted,
  isGuardUp,
}: Omit<typeof scenario extends fc.Arbitrary<infer S> ? S : never, 'events'>) {
  const cluster = new SmallCluster(nodes, apps, wanted)
  cluster.isGuardUp = isGuardUp
  return cluster
}

function happen(cluster: SmallCluster, what: (typeof happenings)[number], which: number, steps: number): void {
  const app = cluster.apps[which % cluster.apps.length]
  const request = cluster.requests[which % cluster.requests.length]
  if (what === 'look') for (let round = 0; round <= steps; round += 1) cluster.look(which)
  if (what === 'die') cluster.look(which, { steps, dies: true })
  if (what === 'sleep') cluster.fallAsleep(which, steps)
  if (what === 'wake') cluster.wakeUp()
  if (what === 'fail') cluster.look(which, { steps, writesAnyway: true })
  if (what === 'count') cluster.count()
  if (what === 'replace') cluster.replacePods()
  if (what === 'start') cluster.startPods()
  if (what === 'reboot') for (const index of cluster.requests.keys()) cluster.reboot(index + which)
  if (what === 'boot') cluster.boot()
  // Without the guard, only who is not away for longer than a reservation lasts keeps his locks.
  if (what === 'wait') cluster.nowMs += cluster.isGuardUp ? minutes(1 + (which % 6)) : 20_000
  if (what === 'cancel' && request !== undefined && which > 12) request.isCancelled = true
  if (what === 'lock' && app !== undefined && which > 15) app.ownerLockedUntilMs = cluster.nowMs + minutes(which)
  if (what === 'wipe' && cluster.isGuardUp && which > 15)
    cluster.ledger = { ...emptyLedger, nextEpoch: cluster.ledger.nextEpoch }
}

it('an administrator who evicts all that he may, at any moment and whoever dies, takes no application below its budget', () => {
  let evictions = 0
  let reboots = 0
  let stayed = 0
  fc.assert(
    fc.property(scenario, ({ events, ...rest }) => {
      const cluster = begin(rest)
      for (const { what, which, steps, greed } of events) {
        const wasUp = new Set(cluster.nodes.filter(({ isReady }) => isReady))
        happen(cluster, what, which, steps)
        expect(cluster.harmed()).toEqual([])
        expect(cluster.twiceHeld()).toEqual([])
        const gone = cluster.nodes.filter((node) => wasUp.has(node) && !node.isReady)
        reboots += gone.length
        stayed += cluster.pods.filter(({ node }) => node !== undefined && gone.includes(node)).length
        for (const pick of greed) {
          const pod = cluster.pods[pick % cluster.pods.length]
          if (pod !== undefined && cluster.evict({ namespace: 'shop', name: pod.name, uid: pod.name })) evictions += 1
          expect(cluster.harmed()).toEqual([])
        }
      }
    }),
    { numRuns: 500 },
  )
  expect({ evictions: evictions > 500, reboots: reboots > 50, stayed: stayed > 50 }).toEqual({
    evictions: true,
    reboots: true,
    stayed: true,
  })
})

it('nothing wedges: with patience every request ends, whatever happened before', () => {
  fc.assert(
    fc.property(scenario, ({ events, ...rest }) => {
      const cluster = begin(rest)
      for (const { what, which, steps } of events) happen(cluster, what, which, steps)
      for (let round = 0; round < 200; round += 1) {
        for (const index of cluster.requests.keys()) cluster.look(index)
        cluster.count()
        cluster.replacePods()
        cluster.startPods()
        for (const index of cluster.requests.keys()) cluster.reboot(index)
        if (round % 2 === 1) cluster.boot()
        cluster.startPods()
        cluster.nowMs += 15_000
      }
      const left = cluster.requests.filter(({ isGone, record }) => !isGone && record.phase !== 'Completed')
      expect(left.map(({ record }) => record.phase)).toEqual([])
      expect(cluster.ledger.entries).toEqual([])
      expect(cluster.nodes.filter(({ isCordoned }) => isCordoned)).toEqual([])
    }),
    { numRuns: 200 },
  )
})

it('a request that waits holds nothing once its steps are done, and every wait says what for and the way out', () => {
  fc.assert(
    fc.property(scenario, ({ events, ...rest }) => {
      const cluster = begin(rest)
      for (const { what, which, steps } of events) {
        happen(cluster, what, which, steps)
        for (const [index, request] of cluster.requests.entries()) {
          const decision = cluster.look(index)
          if (decision === undefined) continue
          const isOver = decision.record.phase === 'Completed' || decision.record.phase === 'Rejected'
          if (!isOver) expect(decision.recheckAfterMs).toBeGreaterThan(0)
          if (decision.steps.length === 0 && !isOver) expect(decision.blockedBy.length).toBeGreaterThan(0)
          for (const { object, holder, since, wayOut } of decision.blockedBy) {
            expect([object, holder, since, wayOut].filter((text) => text === '')).toEqual([])
          }
          const isAsking = decision.steps.some(({ step }) => step === 'take' || step === 'adopt')
          if (decision.record.phase === 'Waiting' && !isAsking) {
            expect(cluster.ledger.entries.filter(({ requestId }) => requestId === request.id)).toEqual([])
          }
        }
      }
    }),
    { numRuns: 200 },
  )
})
