import { afterEach, expect, it } from 'vitest'
import { askExplain, askStatus } from './testing/ask-commands.ts'
import { type FencingFixture, openFencingFixture } from './testing/fencing-fixture.ts'
import { agreeOnMachines } from './testing/machine-agreement.ts'
import { removeOperatorLease, writeOperatorLease } from './testing/operator-lease.ts'

let fixture: FencingFixture
afterEach(() => fixture.close())

it('while a storage machine is dead, explain, status, the page and the budget never contradict each other: "no machine may go" stood beside "may be fenced now", and clean data was called not known', async () => {
  fixture = await openFencingFixture({ storage: 3 })
  await writeOperatorLease(fixture)
  fixture.operate()
  await fixture.until('one machine may go', fixture.isOpen, 60)
  const found = [await agreeOnMachines(fixture)]
  fixture.kill('storage-1')
  await fixture.until('the budget is closed', () => !fixture.isOpen(), 90)
  found.push(await agreeOnMachines(fixture))
  const { answer } = await askExplain(fixture, 'machine/openshift-machine-api/storage-2')
  expect(answer.blockers).toEqual([
    expect.objectContaining({ reason: 'FenceWaitsForData', explanation: 'Not all placement groups are clean.' }),
  ])
  await fixture.until('the dead one is released', () => fixture.labelled().length === 2, 120)
  found.push(await agreeOnMachines(fixture))
  expect(found.flatMap(({ disagreements }) => disagreements)).toEqual([])
  expect(new Set(found.flatMap(({ reasons }) => reasons))).toEqual(
    new Set(['FenceAllowed', 'MachineHasNoOsds', 'FenceWaitsForData']),
  )

  await removeOperatorLease(fixture)
  expect((await agreeOnMachines(fixture)).disagreements.filter((each) => each.startsWith('machine/'))).toEqual([])
  const { fencing } = (await askStatus(fixture)) as { fencing?: { clusters: readonly object[] } }
  expect(fencing?.clusters).toEqual([expect.objectContaining({ allowed: 0, reason: 'FenceUnknown' })])
})
