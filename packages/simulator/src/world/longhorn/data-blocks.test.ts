import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { expect, it } from 'vitest'
import { DataBlocks, drawBytes } from './data-blocks.ts'

const shape = { count: 8, blockBytes: 16 }

it('copies are copies: a change in one does not show in the other', () => {
  const source = new DataBlocks(shape)
  const copy = new DataBlocks(shape)
  source.write(2, drawBytes(seededRandom(1), 16))
  source.write(5, new Uint8Array(16))
  expect(copy.differencesTo(source)).toEqual([2])
  for (const block of source.written()) copy.copyFrom(source, block)
  expect(copy.differencesTo(source)).toEqual([])
  source.corrupt(2)
  expect(copy.differencesTo(source)).toEqual([2])
})

it('a block that was never written equals one full of zeros, and copying it empties the target', () => {
  const source = new DataBlocks(shape)
  const target = new DataBlocks(shape)
  target.write(1, Uint8Array.of(1, 2, 3))
  expect(source.differencesTo(target)).toEqual([1])
  target.copyFrom(source, 1)
  expect([target.usedCount, source.differencesTo(target)]).toEqual([0, []])
})

it('writes beside the volume are refused', () => {
  const blocks = new DataBlocks(shape)
  expect(() => blocks.write(8, new Uint8Array(1))).toThrow('there is no block 8: the volume has 8')
  expect(() => blocks.write(0, new Uint8Array(17))).toThrow('a block holds 16 bytes, not 17')
})
