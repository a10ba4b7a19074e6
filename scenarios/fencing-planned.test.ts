import { afterEach, expect, it } from 'vitest'
import { askExplain } from './testing/ask-commands.ts'
import type { FencingFixture } from './testing/fencing-fixture.ts'
import { compareMachines } from './testing/machine-agreement.ts'
import {
  gatesOf,
  gatesWhileAway,
  gatesWhileReady,
  isRemediated,
  openDrained,
  remediatorStyles,
} from './testing/planned-reboot.ts'

let fixture: FencingFixture
afterEach(() => fixture.close())

it.each(remediatorStyles)(
  'under %s a node that is rebooted on plan keeps its Machine and its power: ten minutes without it are no reason to take it away',
  async (style) => {
    fixture = await openDrained(style)
    expect(await gatesOf(fixture)).toEqual(gatesWhileReady[style])
    expect((await compareMachines(fixture)).disagreements).toEqual([])
    fixture.world.kubelet.powerOff('compute-1')
    await fixture.seconds(600)
    expect(await gatesOf(fixture)).toEqual(gatesWhileAway[style])
    expect(isRemediated(fixture)).toBe(false)
    const { disagreements, reasons } = await compareMachines(fixture)
    expect(disagreements).toEqual([])
    expect(reasons).toContain('PlannedOutage')
    const { namespace } = fixture.kinds
    const { code, answer } = await askExplain(fixture, `machine/${namespace}/compute-1`)
    expect([code, answer]).toMatchObject([3, { blockers: [{ object: 'nodedisruption/reboot-1' }] }])
    expect(JSON.stringify(answer)).toContain('cofferdam uncordon compute-1')

    fixture.world.kubelet.powerOn('compute-1')
    await fixture.until('it is over', () => fixture.phaseOf('reboot-1') === 'Completed', 120)
    await fixture.seconds(90)
    expect(await gatesOf(fixture)).toEqual([])
    expect(isRemediated(fixture)).toBe(false)
    expect(fixture.oracle.violations).toEqual([])
  },
)
