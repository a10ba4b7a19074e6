import { longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { openLonghorn } from '@cofferdam/simulator/world/longhorn/testing/longhorn-fixture.ts'
import { openWorld } from '@cofferdam/simulator/world/testing/scenario.ts'
import { expect, it } from 'vitest'
import { createLonghornWatch } from './longhorn-watch.ts'

it('follows a living Longhorn: a cordon shows within a second', async () => {
  const volumes = [{ name: 'v1', numberOfReplicas: 1, filled: 0.5, placedOn: ['node-1'] }]
  const { api, clock, seconds, cordon, stop } = await openLonghorn({ volumes })
  const watch = createLonghornWatch({ api, clock, random: seededRandom(1) })
  const told: string[] = []
  watch.subscribe((change) => told.push(change.type))
  await seconds(2)
  const places = () =>
    [...watch.list()].flatMap((board) => board.places.map(({ node, leaving }) => [node, leaving?.reason]))
  expect(places()).toEqual([
    ['node-1', undefined],
    ['node-2', undefined],
    ['node-3', undefined],
  ])
  told.length = 0
  await cordon('node-1')
  await seconds(1)
  expect(told).toContain('changed')
  expect(places()[0]).toEqual(['node-1', 'LastReplica'])
  await watch.stop()
  stop()
})

it('of a Longhorn in two namespaces it shows only that: figures of the wrong one would be believed', async () => {
  const { api, clock, seconds, stop } = await openLonghorn({ namespace: 'storage', volumes: [{ name: 'v1' }] })
  const watch = createLonghornWatch({ api, clock, random: seededRandom(1) })
  await seconds(2)
  expect([...watch.list()].map(({ volumes, problems }) => [volumes.total, problems])).toEqual([[1, []]])
  const setting = await api.get(longhornSettings, { namespace: 'storage', name: 'node-drain-policy' })
  const { name } = setting.metadata
  await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'left-over' } })
  await api.create(longhornSettings, { ...setting, metadata: { name, namespace: 'left-over' } })
  await seconds(2)
  const [board] = watch.list()
  expect([board?.volumes.total, board?.places]).toEqual([0, []])
  expect(board?.problems).toEqual([{ object: 'longhorn', problem: expect.stringContaining('(left-over, storage)') }])
  await watch.stop()
  stop()
})

it('without Longhorn there is nothing to show, and nobody waits for it', async () => {
  const { api, clock, seconds, stop } = await openWorld({ nodeCount: 1 })
  const watch = createLonghornWatch({ api, clock, random: seededRandom(1) })
  await seconds(2)
  expect({ isSynced: watch.synced, boards: [...watch.list()] }).toEqual({ isSynced: true, boards: [] })
  await watch.stop()
  stop()
})
