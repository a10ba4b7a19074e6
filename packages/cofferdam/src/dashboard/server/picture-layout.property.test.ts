import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runsOf } from '../../../../../test/property-runs.ts'
import { layoutPicture, placeOf, squareAt } from './picture-layout.ts'

const pictures = fc.record({
  sizes: fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 60 }),
  width: fc.integer({ min: 60, max: 2_000 }),
  apart: fc.array(fc.nat({ max: 60 })).map((ids) => new Set(ids)),
})

it('every square has a place of its own within the picture, and is found there', () => {
  fc.assert(
    fc.property(pictures, ({ sizes, width, apart }) => {
      const layout = layoutPicture(sizes, { width, mostHeight: 400, apart })
      const cursors = sizes.flatMap((size, group) => Array.from({ length: size }, (_, at) => ({ group, at })))
      const places = cursors.map((cursor) => placeOf(layout, cursor))
      expect(new Set(places.map(({ x, y }) => `${x} ${y}`)).size).toBe(cursors.length)
      expect(Math.max(...places.map(({ x }) => x)) + layout.cell).toBeLessThanOrEqual(width)
      expect(Math.max(...places.map(({ y }) => y)) + layout.cell).toBeLessThanOrEqual(layout.height)
      expect(places.map(({ x, y }) => squareAt(layout, sizes, { x: x + 1, y: y + 1 }))).toEqual(cursors)
    }),
    { numRuns: runsOf(40) },
  )
})

it('10,000 OSDs in 40 rounds stand in one band that fits a page', () => {
  const sizes = Array.from({ length: 40 }, () => 250)
  const { cell, height, groups } = layoutPicture(sizes, { width: 1_280, mostHeight: 420 })
  expect({ cell, isLow: height <= 420, bands: new Set(groups.map(({ y }) => y)).size }).toEqual({
    cell: 6,
    isLow: true,
    bands: 1,
  })
})

it('on a phone they are as low as they can be, and complete', () => {
  const sizes = [9_000, ...Array.from({ length: 4 }, () => 250)]
  const { cell, groups } = layoutPicture(sizes, { width: 320, mostHeight: 420 })
  expect({ cell, groups: groups.length }).toEqual({ cell: 5, groups: 5 })
})

it('beside the squares there is nothing', () => {
  const layout = layoutPicture([3], { width: 100, mostHeight: 400 })
  expect(squareAt(layout, [3], { x: 90, y: 90 })).toBeUndefined()
  expect(squareAt(layout, [3], { x: 1, y: 1 })).toBeUndefined()
})
