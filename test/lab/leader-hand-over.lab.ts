import { leases } from '@cofferdam/kubernetes/api/resources.ts'
import { operatorAccount } from '@cofferdam/product/deploy/operator-manifests.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Lab, openLab } from './lab.ts'

let lab: Lab
beforeAll(async () => {
  lab = await openLab('leader-hand-over')
  await lab.installOperator()
})
afterAll(() => lab?.close())

async function holder(): Promise<string> {
  return (await lab.api.get(leases, operatorAccount)).spec?.holderIdentity ?? ''
}

async function leadingPod(): Promise<string> {
  const identity = await holder()
  const leading = [...lab.operators()].find(([pod]) => identity.includes(pod))
  if (leading === undefined) throw new Error(`no operator of ours is ${identity}`)
  return leading[0]
}

it('the leading operator is killed in the middle of a drain; the other one takes over and finishes it', async () => {
  const before = await holder()
  lab.chapter('node-a is drained, and the leader dies as soon as the first OSD is told to go')
  const drain = lab.drain('node-a')
  await lab.until('an OSD has to go', () => lab.osdsOn('node-a').length < 2)
  lab
    .operators()
    .get(await leadingPod())
    ?.signal('SIGKILL')

  await lab.until('somebody else leads', async () => {
    const now = await holder()
    return now !== before && now !== ''
  })
  expect((await drain.ended).code).toBe(0)
  await lab.until(
    'the other racks are held',
    () => lab.osdBudgets().join() === 'rook-ceph-osd-rack-rack-y,rook-ceph-osd-rack-rack-z',
  )
  await lab.until('the killed one is started again and stands by', () => lab.operators().size === 2)

  lab.chapter('node-a is back')
  await lab.kubectl('uncordon', 'node-a')
  await lab.until('the default budget is back', () => lab.osdBudgets().join() === 'rook-ceph-osd', 90)
  expect(await lab.nooutBuckets()).toEqual([])
  expect(lab.oracle.violations).toEqual([])
})
