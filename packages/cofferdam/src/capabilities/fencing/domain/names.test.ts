import { describe, expect, it } from 'vitest'
import { machineBudgetName, machineBudgetNames } from './budget-name.ts'
import { fenceLabelKeys } from './fence-labels.ts'

const cluster = (namespace: string, name: string) => ({ namespace, name })

describe('the names of what belongs to a cluster', () => {
  it('a budget of a cluster with long names has one that the API server takes, and no other has it', () => {
    const long = ['x', 'y'].map((end) => machineBudgetName(cluster('n'.repeat(60), `${'c'.repeat(252)}${end}`)))
    expect(long.map(({ length }) => length)).toEqual([253, 253])
    expect(new Set(long).size).toBe(2)
  })

  it('of two clusters that would share a name the same has it, whichever was listed first: else budgets change hands', () => {
    const two = [cluster('c', 'a-b'), cluster('b-c', 'a')]
    const names = machineBudgetNames(two)
    expect([...machineBudgetNames(two.toReversed())].sort()).toEqual([...names].sort())
    expect(names.get('b-c/a')).toBe('a-b-c')
    expect(names.get('c/a-b')).toMatch(/^a-b-c-[0-9a-f]{8}$/)
  })

  it('a label of a cluster with a long name has a key that the API server takes, and no other has it', () => {
    const keys = [
      ...fenceLabelKeys(['x', 'y'].map((end) => cluster('rook', `${'c'.repeat(70)}${end}`))).values(),
      ...fenceLabelKeys([cluster('rook', 'ceph')]).values(),
    ]
    expect(keys.map((key) => key.length - 'fencegroup.rook.io/'.length)).toEqual([63, 63, 4])
    expect(new Set(keys).size).toBe(3)
  })
})
