import { nodeHealthChecks } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { afterEach, expect, it } from 'vitest'
import { askExplain } from './testing/ask-commands.ts'
import type { FencingFixture } from './testing/fencing-fixture.ts'
import { gatesOf, isRemediated, openDrained } from './testing/planned-reboot.ts'

let fixture: FencingFixture
afterEach(() => fixture.close())

const remediated = () => (fixture.remediator?.controls.remediated() ?? []).map(({ node }) => node)

it('without its Lease a node that is rebooted on plan is power-cycled in the middle of its boot', async () => {
  fixture = await openDrained('medik8s', undefined, { without: ['fencing'] })
  fixture.world.kubelet.powerOff('compute-1')
  await fixture.until('it is remediated', () => isRemediated(fixture), 200)
})

it('a node that is rebooted on plan is left alone, while one that dies beside it is remediated as ever', async () => {
  fixture = await openDrained('medik8s')
  expect(await gatesOf(fixture)).toEqual(['node-compute-1 cofferdam'])
  fixture.world.kubelet.powerOff('compute-1')
  await fixture.seconds(120)
  fixture.kill('compute-2')
  await fixture.until('the dead one is remediated', () => remediated().includes('compute-2'), 300)
  const [check] = (await fixture.api.list(nodeHealthChecks)).items
  expect(check?.spec?.pauseRequests ?? []).toEqual([])
  const { answer } = await askExplain(fixture, 'node/compute-1')
  expect(answer).toMatchObject({ fencing: { mayFence: false, reason: 'PlannedOutage' } })

  fixture.world.kubelet.powerOn('compute-1')
  await fixture.until('the reboot is over', () => fixture.phaseOf('reboot-1') === 'Completed', 200)
  await fixture.seconds(90)
  expect((await gatesOf(fixture)).filter((gate) => gate.endsWith(' cofferdam'))).toEqual([])
  expect(remediated()).toEqual(['compute-2'])
  expect(fixture.oracle.violations).toEqual([])
})
