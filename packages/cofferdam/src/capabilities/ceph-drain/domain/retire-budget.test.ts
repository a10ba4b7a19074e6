import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { describe, expect, it } from 'vitest'
import { buildOsdBudget, parseOsdBudget } from './osd-budgets.ts'
import { decideRemoval, isRetired, removalDueInMs, retireBudget, withoutRetirement } from './retire-budget.ts'
import { coverOf } from './wanted-budgets.ts'

const cluster = { namespace: 'rook-ceph', name: 'rook-ceph', uid: 'u1' }
const now = Date.UTC(2026, 0, 1)

const general: PodDisruptionBudget = buildOsdBudget(cluster, {
  name: 'rook-ceph-osd',
  maxUnavailable: 1,
  selector: { covers: 'all', exceptOsds: [] },
})
const block: PodDisruptionBudget = buildOsdBudget(cluster, {
  name: 'rook-ceph-osd-zone-x',
  maxUnavailable: 0,
  selector: { covers: 'domain', type: 'zone', domain: 'x' },
})

describe('taking a budget away', () => {
  it('a budget that never let a pod go is deleted at once', () => {
    expect(decideRemoval(block, now)).toBe('delete')
  })

  it('the default budget first selects nothing, so that an eviction under way waits instead of leaving its pod behind', () => {
    expect(decideRemoval(general, now)).toBe('retire')
    expect(decideRemoval({ ...general, spec: { ...general.spec, maxUnavailable: 0 } }, now)).toBe('retire')
  })

  it('it goes when no eviction can be under way any more, and says when that is', () => {
    const retired = retireBudget(general, now)
    expect([0, 5_000, 11_999, 12_000].map((passed) => decideRemoval(retired, now + passed))).toEqual([
      'wait',
      'wait',
      'wait',
      'delete',
    ])
    expect([removalDueInMs(general, now), removalDueInMs(retired, now + 2_000)]).toEqual([undefined, 10_000])
  })

  it('retired, it holds no OSD: what it held is held by others or may go', () => {
    const parsed = parseOsdBudget(retireBudget(general, now), cluster)
    expect(parsed).toMatchObject({ name: 'rook-ceph-osd', isOurs: true })
    const holds = coverOf(parsed === undefined ? [] : [parsed])
    expect(holds({ id: 0, topology: { zone: 'x' } })).toBe(false)
  })

  it('back in service it carries no mark, so that its next retirement waits its full time', () => {
    const retired = retireBudget(general, now)
    const back = withoutRetirement({ ...retired, spec: general.spec })
    expect([isRetired(retired), isRetired(back), back.metadata.annotations]).toEqual([true, false, {}])
    expect(decideRemoval({ ...retired, spec: general.spec }, now + 60_000)).toBe('retire')
  })

  it('a mark from the future, or none that can be read, begins the wait anew rather than never to end', () => {
    const retired = retireBudget(general, now)
    expect(decideRemoval(retired, now - 60_000)).toBe('retire')
    const annotations = { 'cofferdam.io/retired-at': 'yesterday' }
    expect(decideRemoval({ ...retired, metadata: { ...retired.metadata, annotations } }, now)).toBe('retire')
  })
})

it('a budget that selects nothing and does not say since when waits its full time from now', () => {
  const { annotations: _, ...metadata } = retireBudget(general, now).metadata
  const unmarked = { ...retireBudget(general, now), metadata }
  expect([decideRemoval(unmarked, now), removalDueInMs(unmarked, now)]).toEqual(['retire', 12_000])
})
