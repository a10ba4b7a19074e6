import { afterEach, describe, expect, it } from 'vitest'
import { type LockStage, openLockStage } from './testing/lock-stage.ts'
import { type LockStory, lockStories } from './testing/lock-stories.ts'

let stage: LockStage
afterEach(() => stage.close())

describe.each(Object.entries<LockStory>(lockStories))('%s', (name, { title, seed, act }) => {
  it(title, async () => {
    stage = await openLockStage()
    stage.trace.chapter('The cluster comes up')
    await seed(stage)
    const before = stage.budgets().map(withoutOwnersLock)
    stage.operate()
    stage.rebootForSeconds(60)
    await stage.seconds(5)
    await act(stage)

    expect(stage.budgets()).toEqual(before)
    expect(stage.ledger()).toMatchObject({ entries: [], tickets: [] })
    expect(['node-1', 'node-2', 'node-3'].filter(stage.isCordoned)).toEqual([])
    expect(stage.oracle.violations).toEqual([])
    await expect(stage.trace.text()).toMatchFileSnapshot(`./drain-lock-${name}.golden.txt`)
  })
})

function withoutOwnersLock(text: string): string {
  return text.replace(', cofferdam.io/lock', '')
}
