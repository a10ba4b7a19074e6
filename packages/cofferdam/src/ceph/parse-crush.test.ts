import { describe, expect, it } from 'vitest'
import { parseCrush } from './parse-crush.ts'
import { readSample } from './testing/read-sample.ts'
import { choose, rule, sampleCrushDump, take } from './testing/sample-crush.ts'

interface TreeNode {
  readonly id: number
  readonly name: string
  readonly type: string
  readonly children?: readonly number[]
}

function rulesOf(...rules: readonly object[]) {
  const crush = parseCrush({ ...sampleCrushDump, rules })
  return crush.known ? crush.value.rules : crush
}

describe('osd crush dump', () => {
  const dumps = { 'a real Ceph': readSample('healthy-osd-crush-dump'), 'the example': sampleCrushDump }
  it.each(Object.entries(dumps))('of %s gives the tree of osd tree, without the shadow trees', (_, dump) => {
    const { nodes } = readSample('healthy-osd-tree') as { nodes: readonly TreeNode[] }
    const buckets = nodes
      .filter(({ id }) => id < 0)
      .map(({ id, name, type, children }) => ({ id, name, type, children }))
    const crush = parseCrush(dump)
    expect(crush.known && sorted(crush.value.buckets)).toEqual(sorted(buckets))
  })

  it('of a real Ceph is read whole: types in order, rules as the pools use them', () => {
    const crush = parseCrush(readSample('healthy-osd-crush-dump'))
    expect(crush.known && { ...crush.value, buckets: crush.value.buckets.length }).toEqual({
      buckets: 10,
      rules: rulesOf(...(readSample('osd-crush-rule-dump') as object[])),
      typeOrder: ['osd', 'host', 'rack', 'root'],
    })
  })

  it('orders types from the narrowest to the widest, however they are listed', () => {
    const crush = parseCrush(sampleCrushDump)
    expect(crush.known && crush.value.typeOrder).toEqual(['osd', 'host', 'rack', 'root'])
  })

  it('reads the rules of a real Ceph', () => {
    expect(rulesOf(...(readSample('osd-crush-rule-dump') as object[]))).toEqual([
      { id: 0, name: 'replicated_rule', failureDomain: 'host', root: 'default' },
      { id: 1, name: 'rep_rack', failureDomain: 'rack', root: 'default' },
      { id: 2, name: 'ec_rack', failureDomain: 'rack', root: 'default' },
      { id: 3, name: 'ec_host', failureDomain: 'host', root: 'default' },
    ])
  })

  const cases: Record<string, { steps: readonly object[]; then: object | undefined }> = {
    'a device class is read from the shadow root that the rule takes': {
      steps: [take('default~ssd'), choose('chooseleaf_firstn', 'host')],
      then: { failureDomain: 'host', root: 'default', deviceClass: 'ssd' },
    },
    'two racks with two hosts each lose a copy with every host': {
      steps: [take('default'), choose('choose_indep', 'rack', 2), choose('chooseleaf_indep', 'host', 2)],
      then: { failureDomain: 'host', root: 'default' },
    },
    'two OSDs on each of four hosts are still spread over hosts': {
      steps: [take('default'), choose('choose_indep', 'host', 4), choose('choose_indep', 'osd', 2)],
      then: { failureDomain: 'host', root: 'default' },
    },
    'a rule that names OSDs only protects against the loss of one OSD': {
      steps: [take('default'), choose('chooseleaf_firstn', 'osd')],
      then: { failureDomain: 'osd', root: 'default' },
    },
    'a rule that takes two classes has no class of its own': {
      steps: [
        take('default~ssd'),
        choose('chooseleaf_firstn', 'host', 1),
        { op: 'emit' },
        take('default~hdd'),
        choose('chooseleaf_firstn', 'rack', -1),
      ],
      then: { failureDomain: 'host', root: 'default' },
    },
    'the multi-step retry rules of new releases are read like the others': {
      steps: [take('default'), choose('choosemsr', 'rack', 4), choose('choosemsr', 'osd', 2)],
      then: { failureDomain: 'rack', root: 'default' },
    },
    'a type that the map does not list counts as the narrowest': {
      steps: [take('default'), choose('choose_firstn', 'rack', 2), choose('chooseleaf_firstn', 'shelf', 2)],
      then: { failureDomain: 'shelf', root: 'default' },
    },
    'a rule that takes nothing places nothing and is left out': { steps: [], then: undefined },
  }
  it.each(Object.entries(cases))('%s', (_, { steps, then }) => {
    expect(rulesOf(rule(9, 'r', 1, steps))).toEqual(then === undefined ? [] : [{ id: 9, name: 'r', ...then }])
  })

  const broken: Record<string, { given: unknown; why: string }> = {
    'rules alone are no map': { given: readSample('osd-crush-rule-dump'), why: 'osd crush dump is not an object' },
    'a map without types has no order of domains': {
      given: { ...sampleCrushDump, types: undefined },
      why: 'types is missing',
    },
    'a bucket whose content cannot be read hides OSDs': {
      given: { ...sampleCrushDump, buckets: [{ id: -1, name: 'default', type_name: 'root', items: [{ id: 'x' }] }] },
      why: 'buckets[0].items[0].id is not a whole number',
    },
    'a step without its type hides a domain': {
      given: {
        ...sampleCrushDump,
        rules: [{ rule_id: 1, rule_name: 'r', steps: [take('default'), { op: 'chooseleaf_firstn' }] }],
      },
      why: 'rules[0].steps[1].type is missing',
    },
  }
  it.each(Object.entries(broken))('%s', (_, { given, why }) => {
    expect(parseCrush(given)).toEqual({ known: false, why: `the answer to osd crush dump cannot be used: ${why}` })
  })
})

/** `osd tree` lists children the other way round than `osd crush dump`. */
function sorted(buckets: readonly { readonly id: number; readonly children?: readonly number[] | undefined }[]) {
  return buckets
    .map((bucket) => ({ ...bucket, children: [...(bucket.children ?? [])].sort((left, right) => left - right) }))
    .sort((left, right) => left.id - right.id)
}
