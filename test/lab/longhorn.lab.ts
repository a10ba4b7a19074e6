import { longhornNamespace } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { databaseOn, type LonghornLab, openLonghornLab } from './longhorn-lab.ts'

const nodeNames = ['node-a', 'node-b', 'node-c']
const pair = { name: 'db', numberOfReplicas: 2, placedOn: ['node-a', 'node-b'], filled: 0.25 }
const timings = { attachMs: 300, detachMs: 300, resyncMs: 5_000, rebuildBytesPerSecond: 48 * 1024 ** 2 }

let lab: LonghornLab
beforeAll(async () => {
  lab = await openLonghornLab('longhorn', { nodeNames, longhorn: { volumes: [pair], timings, ownDrainHandling: true } })
  await lab.kubectlWith(databaseOn('node-a'), 'apply', '-f', '-')
  await lab.installOperator()
  await lab.until('the volume is attached and healthy', () => lab.isHealthy('db'))
})
afterAll(() => lab?.close())

const setting = 'settings.longhorn.io/node-drain-policy'
const inLonghorn = ['-n', longhornNamespace]
const budgets = async (isOurs: boolean) =>
  (await lab.api.list(podDisruptionBudgets, { namespace: longhornNamespace })).items
    .filter(({ metadata }) => metadata.name.startsWith('cofferdam-hold-') === isOurs)
    .flatMap(({ spec }) => spec.selector?.matchLabels?.['longhorn.io/node'] ?? [])
    .sort()
const nodeOfWorkload = async () =>
  (await lab.api.list(pods, { namespace: 'default', labelSelector: 'app=db' })).items.map(({ spec }) => spec.nodeName)

it('held: kubectl drain waits from its first eviction until the replicas have moved, ends by itself, and no byte is lost', async () => {
  const words = ['cofferdam.io/manage=hold', 'cofferdam.io/wanted-policy=block-for-eviction']
  await lab.kubectl(...inLonghorn, 'annotate', setting, ...words)
  await lab.until(
    'nodes with replicas are held before any cordon',
    async () => (await budgets(true)).join() === 'node-a,node-b',
  )
  expect(await budgets(false)).toEqual(nodeNames)
  expect(await nodeOfWorkload()).toEqual(['node-a'])
  lab.controls.writeData('db', { blocks: 8 })

  const drain = lab.drain('node-a')
  await lab.until('kubectl is told to wait', async () => /will retry after 5s/.test(drain.output()))
  const explained = await lab.cofferdam('explain', 'node/node-a').ended
  expect(explained.stdout).toMatch(/db/)
  expect((await drain.ended).code).toBe(0)
  expect(drain.output()).not.toMatch(/more than one PodDisruptionBudget/)
  expect(await lab.wholeCopies('db')).toEqual(['node-b', 'node-c'])
  expect([await budgets(true), await budgets(false)]).toEqual([
    ['node-b', 'node-c'],
    ['node-b', 'node-c'],
  ])
  expect(lab.controls.verify('db').isIntact).toBe(true)

  await lab.kubectl('uncordon', 'node-a')
  await lab.until('Longhorn protects every node again', async () => (await budgets(false)).join() === nodeNames.join())
})

it('two reboots asked for at once go one after the other, and the second waits until the copies of the first are whole', async () => {
  await lab.kubectl(...inLonghorn, 'annotate', setting, 'cofferdam.io/wanted-policy-')
  const both = await lab.wholeCopies('db')
  const drains = both.map((node) => lab.cofferdam('drain', node, '--reason', 'new kernel', '--timeout', '10m'))
  const seen = new Set<string>()
  const rebooted = new Set<string>()
  let fewest = both.length
  await lab.until(
    'both are over',
    async () => {
      const { items } = await lab.api.list(nodeDisruptions)
      if (items.length < 2) return false
      fewest = Math.min(fewest, (await lab.wholeCopies('db')).length)
      seen.add(
        items
          .map(({ status }) => status?.phase ?? 'Pending')
          .sort()
          .join(' '),
      )
      for (const { spec, status } of items) {
        if (status?.phase !== 'Drained' || rebooted.has(spec.nodeName)) continue
        rebooted.add(spec.nodeName)
        lab.machines.reboot(spec.nodeName, 3)
      }
      return items.every(({ status }) => status?.phase === 'Completed')
    },
    120,
  )
  expect((await Promise.all(drains.map(({ ended }) => ended))).map(({ code }) => code)).toEqual([0, 0])
  expect([...seen]).toEqual(expect.arrayContaining(['Drained Waiting', 'Recovering Waiting', 'Completed Drained']))
  expect([...seen].filter((phases) => !/Waiting|Completed|Pending|Locking/.test(phases))).toEqual([])
  expect(fewest).toBe(1)
  expect(lab.controls.verify('db').isIntact).toBe(true)
})

it('the real server refused nothing that Longhorn wrote', () => {
  expect(lab.faults.filter((fault) => /invalid|forbidden/iu.test(fault))).toEqual([])
})
