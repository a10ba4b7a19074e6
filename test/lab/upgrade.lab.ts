import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { operatorAccount } from '@cofferdam/product/deploy/operator-manifests.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { watchHandOver } from '../../scenarios/testing/hand-over-oracle.ts'
import { type Lab, openLab } from './lab.ts'
import { buildVersionBefore, tagBefore, type VersionBefore } from './parts/build-version-before.ts'

let folder: string
let before: VersionBefore | undefined
let lab: Lab
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lab-upgrade-'))
  before = await buildVersionBefore(folder)
  if (before === undefined) return
  const { program, overlay } = before
  const now = [process.execPath, 'bin/cofferdam.js'] as const
  lab = await openLab('upgrade', { operatorProgram: (image) => (image.endsWith(`:${tagBefore}`) ? program : now) })
  await lab.installOperator({ apply: () => lab.kubectl('apply', '-k', overlay) })
}, 300_000)
afterAll(async () => {
  await lab?.close()
  await rm(folder, { recursive: true, force: true })
})

/** Tags of the images that the operator's pods run. */
const tags = () =>
  [...lab.views.of(pods).values()]
    .filter(({ metadata }) => metadata.namespace === operatorAccount.namespace)
    .map(({ spec }) => spec.containers[0]?.image?.split(':')[1] ?? '')

async function phaseOf(node: string): Promise<string> {
  try {
    const { items } = await lab.api.list(nodeDisruptions)
    return items.find(({ spec }) => spec.nodeName === node)?.status?.phase ?? ''
  } catch (error) {
    if (hasReason(error, 'NotFound')) return ''
    throw error
  }
}

it('the version changes in the middle of a drain: the drain and a request that waits go on, and no OSD is without its budget', async ({
  skip,
}) => {
  if (before === undefined) skip('the history of this checkout does not reach back to the version before')
  lab.chapter('The version before drains node-a, and a request for node-c of another rack waits')
  const drain = lab.drain('node-a')
  await lab.until('an OSD of node-a is gone', () => lab.osdsOn('node-a').length < 2)
  const { api, namespace } = lab
  const oracle = watchHandOver({ api, namespace }, () => ['rack-x'], 'topology-location-rack')
  const request = lab.cofferdam('drain', 'node-c', '--timeout', '10m')
  await lab.until('the request waits', async () => (await phaseOf('node-c')) === 'Waiting')
  expect(new Set(tags())).toEqual(new Set([tagBefore]))

  lab.chapter('The version of this checkout is applied')
  await lab.kubectl('apply', '-k', 'test/lab/install/ceph')
  expect((await drain.ended).code).toBe(0)
  await lab.until('no pod of the version before is left', () => !tags().includes(tagBefore), 120)
  await lab.until('two processes run', () => lab.operators().size === 2)
  await oracle.stop()
  expect(oracle.gaps).toEqual([])

  lab.chapter('node-a is back, and the request goes on')
  await lab.kubectl('uncordon', 'node-a')
  await lab.until('the request has ended', () => !request.isRunning(), 180)
  expect((await request.ended).code).toBe(0)
  expect(lab.osdsOn('node-c')).toEqual([])
  await lab.kubectl('uncordon', 'node-c')
  await lab.until('the default budget is back', () => lab.osdBudgets().join() === 'rook-ceph-osd', 120)
  expect(await lab.nooutBuckets()).toEqual([])
  expect(lab.oracle.violations).toEqual([])
})
