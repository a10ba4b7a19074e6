import { longhornNamespace } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { expect, it } from 'vitest'
import { openOperatedLonghorn } from '../capabilities/longhorn-drain/testing/longhorn-operator.ts'
import { createMetrics } from './metrics.ts'
import { startOperator } from './operator.ts'

/** One volume with its only copy on node-1, which Longhorn would let go and Cofferdam holds by the wanted policy; and the figures of the operator. */
async function openWithFigures(wanted: string) {
  const fixture = await openOperatedLonghorn(
    {
      settings: { 'node-drain-policy': 'always-allow' },
      volumes: [{ name: 'v1', numberOfReplicas: 1, filled: 0.5, placedOn: ['node-1'] }],
    },
    { notes: { 'wanted-policy': wanted }, controllers: [] },
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
  return {
    fixture,
    async figures(prefix: string) {
      const lines = (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith(prefix))
      return lines.map((line) => line.replace('cofferdam_longhorn_', ''))
    },
    async close() {
      const stopped = operator.stop()
      await fixture.close()
      await stopped
    },
  }
}

it('figures follow a drain from its beginning to its end', async () => {
  const opened = await openWithFigures('block-for-eviction')
  const { fixture } = opened
  const figures = () => opened.figures('cofferdam_longhorn_')
  await fixture.seconds(30)
  // Only the node with the replica is held beside Longhorn, which would let it go.
  expect(await figures()).toEqual(['problems 0', 'budgets_total{verb="create"} 1'])
  await fixture.cordon('node-1')
  await fixture.seconds(2)
  expect(await figures()).toEqual(
    expect.arrayContaining([
      'node_held{longhorn_node="node-1"} 1',
      `remaining_bytes{longhorn_node="node-1"} ${2 ** 29}`,
      'problems 0',
    ]),
  )
  await fixture.until(async () => (await figures()).includes('node_held{longhorn_node="node-1"} 0'))
  await fixture.seconds(5)
  expect(await figures()).toEqual(
    expect.arrayContaining([
      'remaining_bytes{longhorn_node="node-1"} 0',
      expect.stringMatching(/^budgets_total\{verb="delete"\} [1-9]/),
    ]),
  )
  await opened.close()
})

it('a budget that another client deletes shows in the figures, and each time', async () => {
  const opened = await openWithFigures('block-if-contains-last-replica')
  const { fixture } = opened
  const figures = () => opened.figures('cofferdam_longhorn_reverted_total')
  const held = async () =>
    (await fixture.list(podDisruptionBudgets)).filter(({ metadata }) => metadata.name.startsWith('cofferdam-hold-'))
  await fixture.seconds(30)
  expect(await figures()).toEqual([])
  for (const times of [1, 2]) {
    const [budget] = await held()
    await fixture.api.delete(podDisruptionBudgets, { namespace: longhornNamespace, name: budget?.metadata.name ?? '' })
    await fixture.seconds(5)
    expect(await held()).toHaveLength(1)
    expect(await figures()).toEqual([`reverted_total{object="poddisruptionbudget"} ${times}`])
  }
  await opened.close()
})
