import { afterEach, expect, it } from 'vitest'
import { type FencingStage, openFencingStage } from './testing/fencing-stage.ts'

let stage: FencingStage
afterEach(() => stage.close())

const isMachine = (name: string) => stage.machineNames().includes(name)

it('the OSDs of a sick node are down too: the budget closes, the label goes, and the machine is fenced all the same', async () => {
  stage = await openFencingStage({ storage: 4 })
  const { trace } = stage
  trace.chapter('The operator comes')
  stage.operate()
  await stage.until('one machine may go', stage.isOpen, 60)

  trace.chapter('storage-1 dies, with its OSDs')
  stage.kill('storage-1')
  await stage.until('the budget is closed', () => !stage.isOpen(), 90)
  expect(isMachine('storage-1')).toBe(true)
  await stage.until('it is fenced', () => !isMachine('storage-1'), 480)

  trace.chapter('Its replacement takes over the volumes')
  await stage.until('one machine may go again', stage.isOpen, 600)
  expect(stage.labelled()).toEqual(
    ['storage-2', 'storage-3', 'storage-4', 'storage-5'].map((name) => `${name} rook-ceph`),
  )
  expect(stage.oracle.violations).toEqual([])
  await expect(trace.text()).toMatchFileSnapshot('./fencing-osds-down.golden.txt')
})

it('the OSDs of a sick node are up: it is fenced at once, and the next one only when all data is clean again', async () => {
  stage = await openFencingStage({ storage: 4 })
  const { trace } = stage
  trace.chapter('The operator comes')
  stage.operate()
  await stage.until('one machine may go', stage.isOpen, 60)

  trace.chapter('storage-1 is not ready, and its OSDs run on')
  stage.sicken('storage-1')
  await stage.seconds(60)
  trace.chapter('So is storage-2')
  stage.sicken('storage-2')
  await stage.until('the first is fenced', () => !isMachine('storage-1'), 480)
  expect(stage.isOpen()).toBe(false)
  await stage.until('the second is fenced', () => !isMachine('storage-2'), 1200)
  await stage.until('one machine may go again', stage.isOpen, 600)

  expect(stage.oracle.taken).toEqual(['storage-1', 'storage-2'])
  expect(stage.oracle.violations).toEqual([])
  await expect(trace.text()).toMatchFileSnapshot('./fencing-osds-up.golden.txt')
})
