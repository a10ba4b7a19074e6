import fc from 'fast-check'
import { expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import type { OsdView } from '../../../shared/parse-osd.ts'
import { decideCephDrain } from './decide.ts'
import { planOsdBudgets } from './osd-budgets.ts'
import type { CephDrainSnapshot, OsdBudget } from './snapshot.ts'
import { applyStep, no, notYet, ours, settle, tell, yes } from './testing/fixture.ts'
import { coverOf } from './wanted-budgets.ts'

const zones = { 'zone-1': [0, 1, 2], 'zone-2': [3, 4], 'zone-3': [5, 6], 'zone-4': [7] }
const zoneNames = Object.keys(zones)
const ids = Object.values(zones).flat()
const nodeNames = zoneNames.map((zone) => zone.replace('zone', 'node'))
const someZones = fc.subarray(zoneNames)
const someOsds = fc.subarray(ids)

/** Anything that could be seen, sense or not. */
const anySnapshot: fc.Arbitrary<CephDrainSnapshot> = fc
  .record({
    down: someOsds,
    cephDown: someOsds,
    cordoned: fc.subarray(nodeNames),
    missingNodes: fc.subarray(nodeNames, { maxLength: 1 }),
    data: fc.constantFrom('clean', 'unclean', 'unknown'),
    verdicts: fc.record(
      Object.fromEntries(zoneNames.map((zone) => [zone, fc.constantFrom(yes, yes, yes, no, notYet)])),
    ),
    unlabelled: fc.subarray(ids, { maxLength: 2 }),
    mislabelled: fc.subarray(ids, { maxLength: 2 }),
    unplaced: fc.subarray(ids, { maxLength: 1 }),
    isSilent: fc.constantFrom(undefined, undefined, undefined, 1000, 60_000),
    state: fc.record({
      openDomains: fc.subarray(zoneNames, { maxLength: 2 }),
      unneededOsds: someOsds,
      ownNoout: someZones,
    }),
    budgets: fc.oneof(
      fc.constant(ours('default')),
      fc.constant(ours('closed')),
      someZones.map((some) => ours(...some)),
      someOsds.map((some) => ours(`default but ${some.join()}`)),
      fc.tuple(someZones, someOsds).map(([some, osds]) => [...ours(...some), ...ours(`osds ${osds.join()}`)]),
    ),
    ceph: fc.record({ nooutBuckets: someZones, disagreements: fc.subarray(zoneNames, { maxLength: 1 }) }),
    mode: fc.constantFrom('manage', 'manage', 'manage', 'observe', 'hand-back'),
  })
  .map(({ unlabelled, mislabelled, unplaced, isSilent, ...scenario }) => {
    const osd: Record<number, Partial<OsdView>> = {}
    for (const id of mislabelled) osd[id] = { topology: { zone: 'zone-2' } }
    for (const id of unlabelled) osd[id] = { topology: {} }
    const told = tell({
      ...scenario,
      zones,
      osd,
      ...(isSilent === undefined ? {} : { silentMs: isSilent }),
    } as Parameters<typeof tell>[0])
    if (!told.ceph.known) return told
    const domains = told.ceph.value.domains.map((domain) => ({
      ...domain,
      osds: domain.osds.filter((id) => !unplaced.includes(id)),
    }))
    return { ...told, ceph: known({ ...told.ceph.value, domains }) }
  })

/** 0: nobody holds it. 1: with others. 2: not to be evicted, which is also what two budgets amount to. */
function firmness(budgets: readonly Omit<OsdBudget, 'isOurs'>[], osd: OsdView): number {
  const covering = budgets.filter((budget) => coverOf([budget])(osd))
  if (covering.length === 0) return 0
  return covering.length > 1 || covering[0]?.maxUnavailable === 0 ? 2 : 1
}

it('every OSD is selected by at most one budget, and by none only where it may go or nothing waits for it', () => {
  fc.assert(
    fc.property(anySnapshot, (snapshot) => {
      fc.pre(snapshot.cluster.mode === 'manage' && snapshot.ceph.known)
      const decision = decideCephDrain(snapshot)
      const released = decision.domains.filter(({ reason }) => reason === 'DomainReleased').map(({ domain }) => domain)
      for (const osd of snapshot.osds) {
        const covering = decision.budgets.filter((budget) => coverOf([budget])(osd))
        expect(covering.length).toBeLessThanOrEqual(1)
        const place = decision.domains.find(({ osds }) => osds.includes(osd.id))?.domain
        const isSpare = decision.state.unneededOsds.includes(osd.id)
        if (covering.length === 0) expect(isSpare || released.includes(place ?? 'nowhere')).toBe(true)
      }
    }),
  )
})

it('the order of what is seen changes nothing', () => {
  fc.assert(
    fc.property(anySnapshot, fc.infiniteStream(fc.nat()), (snapshot, chance) => {
      const shuffled = <T>(items: readonly T[]): T[] =>
        items
          .map((item) => ({ item, at: chance.next().value as number }))
          .sort((a, b) => a.at - b.at)
          .map(({ item }) => item)
      const { ceph } = snapshot
      const other: CephDrainSnapshot = {
        ...snapshot,
        osds: shuffled(snapshot.osds),
        nodes: shuffled(snapshot.nodes),
        budgets: shuffled(snapshot.budgets),
        ceph: ceph.known
          ? known({
              ...ceph.value,
              upOsds: shuffled(ceph.value.upOsds),
              domains: shuffled(ceph.value.domains),
              nooutBuckets: shuffled(ceph.value.nooutBuckets),
            })
          : ceph,
      }
      const sorted = (decision: ReturnType<typeof decideCephDrain>) => ({
        ...decision,
        budgets: [...decision.budgets].sort((a, b) => (a.name < b.name ? -1 : 1)),
      })
      expect(sorted(decideCephDrain(other))).toEqual(sorted(decideCephDrain(snapshot)))
    }),
  )
})

it('written once, the same view asks for no further write', () => {
  fc.assert(
    fc.property(anySnapshot, (snapshot) => {
      const settled = settle(snapshot).snapshot
      const again = decideCephDrain(settled)
      expect(planOsdBudgets(settled.budgets, again.budgets)).toEqual([])
      expect(again.state).toEqual(settled.state)
    }),
  )
})

it('after any number of writes every OSD is held at least as firmly as before or after, whichever is weaker', () => {
  fc.assert(
    fc.property(anySnapshot, (snapshot) => {
      const steps = planOsdBudgets(snapshot.budgets, decideCephDrain(snapshot).budgets)
      const prefixes: OsdBudget[][] = [[...snapshot.budgets]]
      for (const step of steps) prefixes.push(applyStep(prefixes.at(-1) as OsdBudget[], step))
      for (const osd of snapshot.osds) {
        const weakest = Math.min(firmness(snapshot.budgets, osd), firmness(prefixes.at(-1) as OsdBudget[], osd))
        for (const prefix of prefixes) expect(firmness(prefix, osd)).toBeGreaterThanOrEqual(weakest)
      }
    }),
  )
})

it('one OSD without label and node never changes how firmly the others are held', () => {
  fc.assert(
    fc.property(anySnapshot, (snapshot) => {
      const bad: OsdView = {
        id: 99,
        isReady: true,
        isBeingReplaced: false,
        nodeName: unknown('nobody knows'),
        topology: {},
      }
      const before = decideCephDrain(snapshot)
      const after = decideCephDrain({ ...snapshot, osds: [...snapshot.osds, bad] })
      for (const osd of snapshot.osds) {
        const [then, now] = [firmness(before.budgets, osd), firmness(after.budgets, osd)]
        // Without Ceph, whatever is not whole is closed, so the others may be held more firmly, never less.
        if (snapshot.ceph.known) expect(now).toBe(then)
        else expect(now).toBeGreaterThanOrEqual(then)
      }
      if (snapshot.cluster.mode === 'manage' && snapshot.ceph.known)
        expect(firmness(after.budgets, bad)).toBeGreaterThan(0)
    }),
  )
})

it('#15601: time that passes changes no budget', () => {
  fc.assert(
    fc.property(anySnapshot, fc.nat(3_600_000), (snapshot, laterMs) => {
      const later = { ...snapshot, nowMs: snapshot.nowMs + laterMs }
      expect(decideCephDrain(later).budgets).toEqual(decideCephDrain(snapshot).budgets)
    }),
  )
})

it('only flags on record as ours are taken off, and they stay on record until they are gone', () => {
  fc.assert(
    fc.property(anySnapshot, (snapshot) => {
      const { noout, state } = decideCephDrain(snapshot)
      for (const bucket of noout.unset) {
        expect(snapshot.state.ownNoout).toContain(bucket)
        if (snapshot.cluster.mode !== 'observe') expect(state.ownNoout).toContain(bucket)
      }
      for (const bucket of noout.set) expect(state.ownNoout).toContain(bucket)
    }),
  )
})
