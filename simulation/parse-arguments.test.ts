import { expect, it } from 'vitest'
import { help, parseArguments } from './parse-arguments.ts'

it('without arguments a hundred seeds are played on all cores', () => {
  expect(parseArguments([], 2)).toMatchObject({ seeds: 100, firstSeed: 1, processes: 2, isShort: false, trace: false })
})

it.each([
  { args: ['--help'], says: help },
  { args: ['--seeds', 'many'], says: 'simulate: --seeds, --first-seed and --processes take whole numbers' },
  { args: ['--first-seed', '-3'], says: expect.stringContaining('simulate: ') },
  { args: ['--sneeds', '3'], says: expect.stringContaining("Unknown option '--sneeds'") },
])('what cannot be meant is said and nothing is played: $args', ({ args, says }) => {
  expect(parseArguments(args, 2)).toEqual(says)
})
