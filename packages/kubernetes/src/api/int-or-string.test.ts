import { expect, it } from 'vitest'
import { percentOf, scaledValue } from './int-or-string.ts'

it('percentages round up for budgets, so that a small app keeps what it asked for, and down where asked', () => {
  expect([scaledValue('50%', 5), scaledValue('50%', 5, 'down'), scaledValue(2, 5), scaledValue('0%', 5)]).toEqual([
    3, 2, 2, 0,
  ])
})

it('refuses what is neither a count nor a percentage', () => {
  expect(() => scaledValue('half', 5)).toThrow('"half" is neither a whole number nor a percentage')
  expect([percentOf('30%'), percentOf('30'), percentOf(30), percentOf('-1%')]).toEqual([
    30,
    undefined,
    undefined,
    undefined,
  ])
})
