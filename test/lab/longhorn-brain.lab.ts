import { longhornNamespace, longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { databaseOn, type LonghornLab, openLonghornLab } from './longhorn-lab.ts'
import { findLonghorn } from './parts/find-longhorn.ts'

const nodeNames = ['node-a', 'node-b', 'node-c', 'node-d']
const timings = { attachMs: 300, detachMs: 300, resyncMs: 2_000, rebuildBytesPerSecond: 64 * 1024 ** 2 }

let lab: LonghornLab
beforeAll(async () => {
  const brain = await findLonghorn((line) => console.error(line))
  lab = await openLonghornLab('longhorn-brain', {
    nodeNames,
    brain,
    longhorn: {
      timings,
      volumes: [
        { name: 'db', numberOfReplicas: 1, placedOn: ['node-a'], filled: 0.25 },
        { name: 'triple', numberOfReplicas: 3, placedOn: ['node-a', 'node-b', 'node-c'], filled: 0.25 },
      ],
    },
  })
  await lab.kubectlWith(databaseOn('node-a'), 'apply', '-f', '-')
  await lab.installOperator()
  await lab.until('the volume is attached and healthy', () => lab.isHealthy('db'))
})
afterAll(() => lab?.close())
const inLonghorn = ['-n', longhornNamespace]
const policy = async () =>
  (await lab.api.get(longhornSettings, { namespace: longhornNamespace, name: 'node-drain-policy' })).value

it('guide', async () => {
  const words = ['cofferdam.io/manage=guide', 'cofferdam.io/wanted-policy=block-for-eviction']
  await lab.kubectl(...inLonghorn, 'annotate', 'settings.longhorn.io/node-drain-policy', ...words)
  lab.controls.writeData('db', { blocks: 8 })
  const before = await policy()
  const drain = lab.drain('node-a')
  await lab.until('the wanted policy is in force', async () => (await policy()) === 'block-for-eviction')
  expect((await drain.ended).code).toBe(0)
  console.log(await lab.wholeCopies('db'), await lab.wholeCopies('triple'))
  expect(lab.controls.verify('db').isIntact).toBe(true)
  await lab.kubectl('uncordon', 'node-a')
  await lab.until('the policy is back', async () => (await policy()) === before)
})
it('faults', () => {
  console.log(lab.faults)
  expect(lab.faults).toEqual([])
})
