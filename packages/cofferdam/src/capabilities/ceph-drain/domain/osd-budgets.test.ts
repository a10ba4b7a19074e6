import { createHash } from 'node:crypto'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { describe, expect, it } from 'vitest'
import { buildOsdBudget, domainBudgetName, parseOsdBudget, planOsdBudgets } from './osd-budgets.ts'
import type { OsdBudget } from './snapshot.ts'
import { ours } from './testing/fixture.ts'

const cluster = { namespace: 'rook-ceph', name: 'my-cluster', uid: 'uid-1' }
const one = (word: string): OsdBudget => ours(word)[0] as OsdBudget

describe('an OSD budget as an object', () => {
  const metadata = (name: string) => ({
    name,
    namespace: 'rook-ceph',
    labels: { 'app.kubernetes.io/managed-by': 'cofferdam' },
    ownerReferences: [
      {
        apiVersion: 'ceph.rook.io/v1',
        kind: 'CephCluster',
        name: 'my-cluster',
        uid: 'uid-1',
        controller: true,
      },
    ],
  })
  const shapes: Record<string, { given: OsdBudget; then: PodDisruptionBudget }> = {
    'the default budget selects every OSD': {
      given: one('default'),
      then: {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: metadata('rook-ceph-osd'),
        spec: {
          maxUnavailable: 1,
          selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['rook-ceph-osd'] }] },
        },
      },
    },
    'dead OSDs are excepted by number, as text': {
      given: one('default but 1,3,5'),
      then: {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: metadata('rook-ceph-osd'),
        spec: {
          maxUnavailable: 1,
          selector: {
            matchExpressions: [
              { key: 'app', operator: 'In', values: ['rook-ceph-osd'] },
              { key: 'osd', operator: 'NotIn', values: ['1', '3', '5'] },
            ],
          },
        },
      },
    },
    'a block selects a failure domain by its label and nothing else': {
      given: one('zone-a'),
      then: {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: metadata('rook-ceph-osd-zone-zone-a'),
        spec: { maxUnavailable: 0, selector: { matchLabels: { 'topology-location-zone': 'zone-a' } } },
      },
    },
    'OSDs that no label places are held by number': {
      given: one('osds 7,9'),
      then: {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: metadata('rook-ceph-osd-unplaced'),
        spec: {
          maxUnavailable: 0,
          selector: {
            matchExpressions: [
              { key: 'app', operator: 'In', values: ['rook-ceph-osd'] },
              { key: 'osd', operator: 'In', values: ['7', '9'] },
            ],
          },
        },
      },
    },
  }
  it.each(Object.entries(shapes))('%s, and is read back the same', (_sentence, { given, then }) => {
    expect(buildOsdBudget(cluster, given)).toEqual(then)
    expect(parseOsdBudget(then, cluster)).toEqual(given)
  })

  it('a name that would be too long carries a digest of the domain instead', () => {
    const long = 'a-data-center-with-a-name-that-says-everything-about-it'
    const digest = createHash('sha256').update(long).digest('hex').slice(0, 32)
    expect(domainBudgetName('zone', long)).toBe(`rook-ceph-osd-zone-${digest}`)
    expect(domainBudgetName('zone', 'x'.repeat(44))).toBe(`rook-ceph-osd-zone-${'x'.repeat(44)}`)
  })

  it('without our owner it is not ours; in another namespace or under another name it is nothing', () => {
    const foreign = buildOsdBudget({ ...cluster, uid: 'other' }, one('default'))
    expect(parseOsdBudget(foreign, cluster)).toEqual({ ...one('default'), isOurs: false })
    expect(parseOsdBudget(foreign, { ...cluster, namespace: 'elsewhere' })).toBeUndefined()
    expect(parseOsdBudget({ ...foreign, metadata: { name: 'web', namespace: 'rook-ceph' } }, cluster)).toBeUndefined()
  })

  it('that of an older Rook, which selects OSDs by a label, is one over all OSDs: it can be adopted without another beside it', () => {
    const whole = buildOsdBudget(cluster, one('default'))
    const parsed = (selector: NonNullable<PodDisruptionBudget['spec']['selector']>) =>
      parseOsdBudget({ ...whole, spec: { maxUnavailable: 1, selector } }, cluster)?.selector
    const matchLabels = { app: 'rook-ceph-osd' }
    const but = { key: 'osd', operator: 'NotIn', values: ['1', '3'] } as const
    expect(parsed({ matchLabels })).toEqual({ covers: 'all', exceptOsds: [] })
    expect(parsed({ matchLabels, matchExpressions: [but] })).toEqual({ covers: 'all', exceptOsds: [1, 3] })
    expect(parsed({ matchLabels: { ...matchLabels, rack: 'x' } })).toEqual({ covers: 'other' })
    expect(parsed({ matchLabels: { app: 'web' } })).toEqual({ covers: 'other' })
  })

  it('one that was edited by hand counts as no protection, and is written again', () => {
    const whole = buildOsdBudget(cluster, one('zone-a'))
    const edits: PodDisruptionBudget['spec'][] = [
      { ...whole.spec, maxUnavailable: '50%' },
      { minAvailable: 1, selector: { matchLabels: { app: 'rook-ceph-osd' } } },
      { maxUnavailable: 0, selector: { matchExpressions: [{ key: 'osd', operator: 'Exists' }] } },
      { maxUnavailable: 0 },
    ]
    for (const spec of edits) {
      const parsed = parseOsdBudget({ ...whole, spec }, cluster) as OsdBudget
      expect(parsed.selector).toEqual({ covers: 'other' })
      expect(planOsdBudgets([parsed], [one('zone-a')])).toMatchObject([{ action: 'apply' }])
    }
  })
})

describe('the order of writes', () => {
  const words = (actual: readonly OsdBudget[], desired: readonly OsdBudget[]) =>
    planOsdBudgets(actual, desired).map((step) =>
      step.action === 'delete' ? `delete ${step.name}` : `apply ${step.budget.name}`,
    )

  it('into a drain: the blocks first, then the default budget goes', () => {
    expect(words(ours('default'), ours('zone-3', 'zone-2'))).toEqual([
      'apply rook-ceph-osd-zone-zone-2',
      'apply rook-ceph-osd-zone-zone-3',
      'delete rook-ceph-osd',
    ])
  })

  it('out of a drain: the default budget first, then the blocks go', () => {
    expect(words(ours('zone-3', 'zone-2'), ours('default but 1'))).toEqual([
      'apply rook-ceph-osd',
      'delete rook-ceph-osd-zone-zone-2',
      'delete rook-ceph-osd-zone-zone-3',
    ])
  })

  it('an OSD that moves between the default budget and the one by number is never without', () => {
    const plan = planOsdBudgets(ours('default but 1', 'osds 1'), ours('default but 2', 'osds 2'))
    expect(plan.map((step) => step.action === 'apply' && step.budget.selector)).toEqual([
      { covers: 'osds', osds: [1, 2] },
      { covers: 'all', exceptOsds: [2] },
      { covers: 'osds', osds: [2] },
    ])
  })

  it('nothing to do is no write, whatever the order of exceptions', () => {
    expect(words(ours('default but 3,1'), ours('default but 1,3'))).toEqual([])
  })

  it("somebody else's budget under our name is left alone, and nothing of ours is deleted for it", () => {
    const foreign = { ...one('default'), isOurs: false }
    expect(words([foreign, ...ours('zone-2', 'zone-3')], ours('default'))).toEqual([])
    expect(words([{ ...one('zone-2'), isOurs: false }, one('default')], ours('zone-2', 'zone-3'))).toEqual([
      'apply rook-ceph-osd-zone-zone-3',
    ])
  })

  it("somebody else's budget under another name is none of our business", () => {
    expect(words([{ ...one('zone-9'), isOurs: false }, one('default')], ours('default'))).toEqual([])
  })
})

it('a selector that Cofferdam does not write is never written: it would protect nobody', () => {
  const other = { name: 'rook-ceph-osd', maxUnavailable: 0, selector: { covers: 'other' } } as const
  expect(() => buildOsdBudget(cluster, other)).toThrow('does not write')
})

describe('a budget that others wrote under the name of one of ours', () => {
  const base = buildOsdBudget(cluster, one('default'))
  const isOsd = { key: 'app', operator: 'In' as const, values: ['rook-ceph-osd'] }
  const rows: Record<string, [PodDisruptionBudget, object]> = {
    'is not ours without an owner': [
      { ...base, metadata: { name: 'rook-ceph-osd', namespace: 'rook-ceph' } },
      { isOurs: false },
    ],
    'covers nothing that is known where it asks for another label': [
      {
        ...base,
        spec: {
          maxUnavailable: 1,
          selector: { matchExpressions: [isOsd, { key: 'x', operator: 'NotIn', values: [] }] },
        },
      },
      { selector: { covers: 'other' } },
    ],
    'covers nothing that is known where an OSD has no number': [
      {
        ...base,
        spec: {
          maxUnavailable: 1,
          selector: { matchExpressions: [isOsd, { key: 'osd', operator: 'NotIn', values: ['a'] }] },
        },
      },
      { selector: { covers: 'other' } },
    ],
  }
  it.each(Object.entries(rows))('%s', (_sentence, [budget, then]) => {
    expect(parseOsdBudget(budget, cluster)).toMatchObject(then)
  })
})

it('a budget by numbers that was a block before holds by numbers at once: there is nothing to hold both ends of', () => {
  const before = { ...one('zone-a'), name: 'rook-ceph-osd-unplaced' }
  expect(planOsdBudgets([before], ours('osds 3'))).toEqual([{ action: 'apply', budget: ours('osds 3')[0] }])
})
