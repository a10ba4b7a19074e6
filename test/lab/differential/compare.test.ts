import { expect, it } from 'vitest'
import { differencesOf } from './compare.ts'

it('two answers are told apart as deep inside as can be', () => {
  const real = { code: 200, body: { spec: { a: 1, list: [1, 2] }, gone: true } }
  const embedded = { code: 200, body: { spec: { a: 2, list: [1, 3] } } }
  expect(differencesOf(real, embedded)).toEqual([
    { path: 'body.spec.a', real: 1, embedded: 2 },
    { path: 'body.spec.list[1]', real: 2, embedded: 3 },
    { path: 'body.gone', real: true, embedded: undefined },
  ])
})

it('lists of different lengths differ as a whole', () => {
  expect(differencesOf({ items: [1] }, { items: [1, 2] })).toEqual([{ path: 'items', real: [1], embedded: [1, 2] }])
})
