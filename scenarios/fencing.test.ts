import { afterEach, expect, it } from 'vitest'
import { type FencingFixture, openFencingFixture } from './testing/fencing-fixture.ts'

let fixture: FencingFixture
afterEach(() => fixture.close())

const isMachine = (name: string) => fixture.machineNames().includes(name)

it('the OSDs of a sick node are down too: the budget closes, the label goes, and the machine is fenced all the same', async () => {
  fixture = await openFencingFixture({ storage: 4 })
  const { trace } = fixture
  trace.chapter('The operator comes')
  fixture.operate()
  await fixture.until('one machine may go', fixture.isOpen, 60)

  trace.chapter('storage-1 dies, with its OSDs')
  fixture.kill('storage-1')
  await fixture.until('the budget is closed', () => !fixture.isOpen(), 90)
  expect(isMachine('storage-1')).toBe(true)
  await fixture.until('it is fenced', () => !isMachine('storage-1'), 480)

  trace.chapter('Its replacement takes over the volumes')
  await fixture.until('one machine may go again', fixture.isOpen, 600)
  expect(fixture.labelled()).toEqual(
    ['storage-2', 'storage-3', 'storage-4', 'storage-5'].map((name) => `${name} rook-ceph`),
  )
  expect(fixture.oracle.violations).toEqual([])
  await expect(trace.text()).toMatchFileSnapshot('./fencing-osds-down.golden.txt')
})

it('the OSDs of a sick node are up: it is fenced at once, and the next one only when all data is clean again', async () => {
  fixture = await openFencingFixture({ storage: 4 })
  const { trace } = fixture
  trace.chapter('The operator comes')
  fixture.operate()
  await fixture.until('one machine may go', fixture.isOpen, 60)

  trace.chapter('storage-1 is not ready, and its OSDs run on')
  fixture.sicken('storage-1')
  await fixture.seconds(60)
  trace.chapter('So is storage-2')
  fixture.sicken('storage-2')
  await fixture.until('the first is fenced', () => !isMachine('storage-1'), 480)
  expect(fixture.isOpen()).toBe(false)
  await fixture.until('the second is fenced', () => !isMachine('storage-2'), 1200)
  await fixture.until('one machine may go again', fixture.isOpen, 600)

  expect(fixture.oracle.taken).toEqual(['storage-1', 'storage-2'])
  expect(fixture.oracle.violations).toEqual([])
  await expect(trace.text()).toMatchFileSnapshot('./fencing-osds-up.golden.txt')
})
