import { describe, expect, it } from 'vitest'
import { parseCrush, parseCrushRules } from './parse-crush.ts'
import { parseOsdTree } from './parse-osd-tree.ts'
import { readSample } from './testing/read-sample.ts'

describe('osd tree', () => {
  it('of a real Ceph has the buckets of its CRUSH map, and says of every OSD whether it is up', () => {
    const tree = parseOsdTree(readSample('osd0-down-osd-tree'))
    const crush = parseCrush(readSample('healthy-osd-crush-dump'))
    const sorted = <T extends { readonly id: number; readonly children: readonly number[] }>(buckets: readonly T[]) =>
      buckets
        .map((bucket) => ({ ...bucket, children: [...bucket.children].sort() }))
        .sort((left, right) => left.id - right.id)
    expect(tree.known && crush.known && sorted(tree.value.buckets)).toEqual(crush.known && sorted(crush.value.buckets))
    expect(tree.known && [...tree.value.isUp].sort(([left], [right]) => left - right)).toEqual(
      [...Array(12).keys()].map((id) => [id, id !== 0]),
    )
  })

  it('orders the types that it shows among those that Ceph comes with', () => {
    const bucket = { id: -1, name: 'shelf-1', type: 'shelf', type_id: 2, children: [] }
    const tree = parseOsdTree({ nodes: [bucket] })
    expect(tree.known && tree.value.typeOrder.slice(0, 4)).toEqual(['osd', 'host', 'shelf', 'rack'])
    expect(tree.known && tree.value.typeNames.get(2)).toBe('shelf')
  })

  it('has OSDs that are in no bucket, too', () => {
    const tree = parseOsdTree({ nodes: [], stray: [{ id: 7, name: 'osd.7', type: 'osd', status: 'down' }] })
    expect(tree.known && [...tree.value.isUp]).toEqual([[7, false]])
  })

  it.each([
    [
      'is filtered by state, so that OSDs are missing',
      { nodes: [{ id: -1, name: 'a', type: 'host', type_id: 1, children: [4] }] },
      'nodes has no 4, which a contains',
    ],
    ['does not say whether an OSD is up', { nodes: [{ id: 4 }] }, 'nodes[0].status is missing'],
    ['is none', [], 'osd tree is not an object'],
  ])('one that %s is not used', (_, json, problem) => {
    expect(parseOsdTree(json)).toEqual({ known: false, why: `the answer to osd tree cannot be used: ${problem}` })
  })
})

describe('osd crush rule dump', () => {
  it('of a real Ceph has the rules of its CRUSH map', () => {
    const crush = parseCrush(readSample('healthy-osd-crush-dump'))
    const rules = parseCrushRules(readSample('osd-crush-rule-dump'), ['osd', 'host', 'rack', 'root'])
    expect(crush.known && rules.known && rules.value).toEqual(crush.known && crush.value.rules)
  })

  it('says which rule it cannot read', () => {
    expect(parseCrushRules([{ rule_id: 1, rule_name: 'a' }], [])).toEqual({
      known: false,
      why: 'the answer to osd crush rule dump cannot be used: [0].steps is missing',
    })
  })
})
