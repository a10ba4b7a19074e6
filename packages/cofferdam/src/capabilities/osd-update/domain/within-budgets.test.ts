import { expect, it } from 'vitest'
import { updateSnapshot } from './testing/update-fixture.ts'
import { withinBudgets } from './within-budgets.ts'

it('a budget of others lets go as many as it has room for, and OSDs that no budget covers are not counted to it', () => {
  const takesFrom = { budget: 'team/all', room: 1 }
  const { osds } = updateSnapshot({ osds: { 0: { takesFrom }, 2: { takesFrom } } })
  expect(withinBudgets([0, 1, 2, 3], osds)).toEqual([0, 1, 3])
})
