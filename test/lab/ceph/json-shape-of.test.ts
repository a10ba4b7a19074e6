import { describe, expect, it } from 'vitest'
import { jsonShapeOf, shapeGaps } from './json-shape-of.ts'

const written = (value: unknown, named?: RegExp) =>
  Object.fromEntries([...jsonShapeOf(value, named)].map(([path, kinds]) => [path, [...kinds].join('|')]))

describe('the shape of an answer', () => {
  it('takes the items of a list together, so that a field of one is a field of all', () => {
    expect(written({ osds: [{ id: 1 }, { id: 2, up: null }], flags: [] })).toEqual({
      '': 'object',
      osds: 'array',
      'osds[]': 'object',
      'osds[].id': 'number',
      'osds[].up': 'null',
      flags: 'array',
    })
  })

  it('keeps both kinds where values of a path differ', () => {
    expect(written([[1], ['a', true]])).toEqual({ '': 'array', '[]': 'array', '[][]': 'number|string|boolean' })
  })

  it('does not tell apart things by their names where keys are names', () => {
    const flags = { crush_node_flags: { 'zone-a': ['noout'], 'zone-b': ['noin'] } }
    expect(written(flags, /^crush_node_flags$/)).toEqual({
      '': 'object',
      crush_node_flags: 'object',
      'crush_node_flags.*': 'array',
      'crush_node_flags.*[]': 'string',
    })
  })
})

describe('two shapes', () => {
  const gaps = (here: unknown, there: unknown) => shapeGaps(jsonShapeOf(here), jsonShapeOf(there))

  it('agree when the other has more', () => {
    expect(gaps({ id: 1 }, { id: 2, name: 'a' })).toEqual([])
  })

  it('differ by what the other lacks, and by what is of another kind there', () => {
    expect(gaps({ id: 1, pools: [{ size: 3 }] }, { id: '1', pools: [] })).toEqual([
      'id: number, but string there',
      'pools[].size: number, but missing there',
      'pools[]: object, but missing there',
    ])
  })
})
