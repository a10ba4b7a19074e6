import { afterEach, expect, it } from 'vitest'
import { type LockFixture, openLockFixture } from './testing/lock-fixture.ts'
import { marksOn } from './testing/scale-down-marks.ts'

let fixture: LockFixture
afterEach(() => fixture.close())

const writes = Array.from({ length: 14 }, (_, index) => index + 1)

it.each(writes)(
  'an operator that dies after %i writes leaves no mark behind: its successor takes back what it set, and nothing else',
  async (count) => {
    fixture = await openLockFixture()
    await fixture.addStaying('db')
    fixture.rebootForSeconds(30)
    fixture.operate({ isReplaced: true }).killAfter(count)
    await fixture.request('reboot-1', { nodeName: 'node-2' })
    await fixture.until(
      'it is emptied under its marks',
      async () => fixture.phaseOf('reboot-1') === 'Drained' && (await marksOn(fixture, 'node-2')).length === 3,
      600,
    )
    await fixture.reach('reboot-1', 'Completed', 600)
    await fixture.seconds(20)
    expect(await marksOn(fixture, 'node-2')).toEqual([])
    expect(fixture.oracle.violations).toEqual([])
  },
)
