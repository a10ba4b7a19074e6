import { longhornNamespace, longhornReplicas } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { daemonSets } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { buildManagerDaemonSet } from '@cofferdam/simulator/world/longhorn/manager-daemon-set.ts'
import { expect, it } from 'vitest'
import { openOperatedLonghorn } from '../capabilities/longhorn-drain/testing/longhorn-operator.ts'
import { createMetrics } from './metrics.ts'
import { startOperator } from './operator.ts'

it('figures follow a drain from its beginning to its end', async () => {
  const fixture = await openOperatedLonghorn(
    {
      settings: { 'node-drain-policy': 'block-for-eviction' },
      volumes: [{ name: 'v1', numberOfReplicas: 1, filled: 0.5, placedOn: ['node-1'] }],
    },
    { controllers: [] },
  )
  const metrics = createMetrics()
  const operator = startOperator({
    api: fixture.api,
    clock: fixture.clock,
    random: seededRandom(9),
    log: { info() {}, warn() {}, error() {}, debug() {} } as never,
    metrics,
    controllers: ['longhorn-drain'],
    dryRun: false,
  })
  const figures = async () =>
    (await metrics.registry.metrics())
      .split('\n')
      .filter((line) => line.startsWith('cofferdam_longhorn_'))
      .map((line) => line.replace('cofferdam_longhorn_', ''))
  await fixture.seconds(30)
  expect(await figures()).toEqual(['problems 0', 'budgets_total{verb="create"} 3', 'owner_refused 0'])
  await fixture.cordon('node-1')
  await fixture.seconds(2)
  expect(await figures()).toEqual([
    'node_held{node="node-1"} 1',
    `bytes_left{node="node-1"} ${2 ** 29}`,
    'problems 0',
    'evictions_total{reason="EvictionAutomatic"} 1',
    // Those of the CSI sidecars came with the volume that is attached for its move.
    'budgets_total{verb="create"} 5',
    'owner_refused 0',
  ])
  await fixture.until(async () => (await figures()).some((line) => /^budgets_total\{verb="delete"\} [1-9]/.test(line)))
  await fixture.seconds(5)
  expect(await figures()).toEqual(expect.arrayContaining(['node_held{node="node-1"} 0', 'bytes_left{node="node-1"} 0']))
  const stopped = operator.stop()
  await fixture.close()
  await stopped
})

it('mode owner that is refused, and a write of it that somebody undid, show in the figures', async () => {
  const fixture = await openOperatedLonghorn(
    {
      settings: { 'node-drain-policy': 'block-for-eviction' },
      volumes: [{ name: 'v1', numberOfReplicas: 1, filled: 0.5, placedOn: ['node-1'] }],
      timings: { rebuildBytesPerSecond: 1024 ** 2 },
    },
    { controllers: [] },
  )
  const metrics = createMetrics()
  const operator = startOperator({
    api: fixture.api,
    clock: fixture.clock,
    random: seededRandom(9),
    log: { info() {}, warn() {}, error() {}, debug() {} } as never,
    metrics,
    controllers: ['longhorn-drain'],
    dryRun: false,
  })
  const figures = async () =>
    (await metrics.registry.metrics())
      .split('\n')
      .filter((line) => /^cofferdam_longhorn_(owner_refused|reverted_total)/.test(line))
      .map((line) => line.replace('cofferdam_longhorn_', ''))
  await fixture.cordon('node-1')
  await fixture.seconds(30)
  const replica = (await fixture.replicasOf('v1')).find(({ spec }) => spec?.nodeID === 'node-1')
  const key = { namespace: longhornNamespace, name: replica?.metadata.name ?? '' }
  await fixture.api.patch(longhornReplicas, key, { type: 'merge', body: { spec: { evictionRequested: false } } })
  await fixture.seconds(5)
  expect(await figures()).toEqual(['owner_refused 0', 'reverted_total{object="replica"} 1'])
  await fixture.api.create(daemonSets, buildManagerDaemonSet(longhornNamespace))
  await fixture.seconds(5)
  expect(await figures()).toContain('owner_refused 1')
  await fixture.annotate('guide')
  await fixture.seconds(5)
  expect(await figures()).toContain('owner_refused 0')
  const stopped = operator.stop()
  await fixture.close()
  await stopped
})
