import { openWorld } from '@cofferdam/simulator/world/testing/scenario.ts'
import { expect, it } from 'vitest'
import { nodes } from '../api/resources.ts'
import { filteredView } from './filtered-view.ts'
import { createWatchCache } from './watch-cache.ts'

it('what does not pass is neither found nor told of, also when it changes or goes', async () => {
  const scenario = await openWorld({ nodeCount: 3 })
  const { api, clock, random } = scenario
  const cache = createWatchCache({ api, clock, random, type: nodes, indexes: { all: () => ['all'] } })
  const view = filteredView(cache, ({ metadata }) => metadata.name !== 'node-2')
  const told: string[] = []
  const end = view.subscribe(({ type, key }) => told.push(`${type} ${key}`))
  await scenario.seconds(5)
  await view.whenSynced()
  const names = (list: Iterable<{ metadata: { name: string } }>) =>
    [...list].map(({ metadata }) => metadata.name).sort()
  expect([names(view.list()), names(view.byIndex('all', 'all'))]).toEqual([
    ['node-1', 'node-3'],
    ['node-1', 'node-3'],
  ])
  expect([view.get({ name: 'node-2' }), view.get({ name: 'node-1' })?.metadata.name]).toEqual([undefined, 'node-1'])
  told.length = 0
  for (const name of ['node-2', 'node-3']) {
    await api.patch(nodes, { name }, { type: 'merge', body: { spec: { unschedulable: true } } })
    await api.delete(nodes, { name })
  }
  await scenario.seconds(5)
  expect(told.filter((line) => line.endsWith('node-2'))).toEqual([])
  expect(told).toContain('removed node-3')
  end()
  await cache.stop()
  scenario.stop()
})
