import { longhornNamespace, longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { databaseOn, type LonghornLab, openLonghornLab } from './longhorn-lab.ts'

const nodeNames = ['node-a', 'node-b', 'node-c']
const pair = { name: 'db', numberOfReplicas: 2, placedOn: ['node-a', 'node-b'], filled: 0.25 }
const timings = { attachMs: 300, detachMs: 300, resyncMs: 3_000, rebuildBytesPerSecond: 64 * 1024 ** 2 }

let lab: LonghornLab
beforeAll(async () => {
  const longhorn = { volumes: [pair], timings, ownDrainHandling: true }
  lab = await openLonghornLab('longhorn-guide', { nodeNames, longhorn })
  await lab.kubectlWith(databaseOn('node-a'), 'apply', '-f', '-')
  await lab.installOperator()
  await lab.until('the volume is attached and healthy', () => lab.isHealthy('db'))
})
afterAll(() => lab?.close())

const inLonghorn = ['-n', longhornNamespace]
const policy = async () =>
  (await lab.api.get(longhornSettings, { namespace: longhornNamespace, name: 'node-drain-policy' })).value

it('as guide of a Longhorn that decides itself: replicas move while the node is drained, and the policy is put back', async () => {
  const words = ['cofferdam.io/manage=guide', 'cofferdam.io/wanted-policy=block-for-eviction']
  await lab.kubectl(...inLonghorn, 'annotate', 'settings.longhorn.io/node-drain-policy', ...words)
  lab.controls.writeData('db', { blocks: 8 })
  const before = await policy()

  const drain = lab.drain('node-a')
  await lab.until('the wanted policy is in force', async () => (await policy()) === 'block-for-eviction')
  expect((await drain.ended).code).toBe(0)
  expect(await lab.wholeCopies('db')).toEqual(['node-b', 'node-c'])
  expect(lab.controls.verify('db').isIntact).toBe(true)

  await lab.kubectl('uncordon', 'node-a')
  await lab.until('the policy is back', async () => (await policy()) === before)
})
