import { longhornInstanceManagers } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { afterEach, expect, it } from 'vitest'
import { type LonghornFixture, openLonghorn } from './testing/longhorn-fixture.ts'
import { releasedDefinitions } from './testing/released-definitions.ts'
import { strictFor } from './testing/strict-api.ts'

let fixture: LonghornFixture
afterEach(() => fixture.stop())

it('writes nothing that Longhorn 1.12 does not know, with both data engines, a linked clone and drains in its own hands', async () => {
  const disks = [{ name: 'default-disk' }, { name: 'nvme', diskType: 'block' as const }]
  const second = { dataEngine: 'v2' as const, numberOfReplicas: 1, filled: 0.25 }
  fixture = await openLonghorn(
    {
      ownDrainHandling: true,
      dataEngines: ['v1', 'v2'],
      disks,
      settings: { 'node-drain-policy': 'block-for-eviction' },
      volumes: [
        { name: 'first', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], filled: 0.25 },
        { ...second, name: 'source', placedOn: ['node-1'] },
        { ...second, name: 'clone', cloneMode: 'linked-clone', dataSource: 'vol://source' },
      ],
    },
    { definitions: releasedDefinitions('1.12'), change: strictFor('longhorn.io') },
  )
  const { controls, cordon, failures, list, placesOf, seconds, until } = fixture
  await controls.attach('first', 'node-3')
  await cordon('node-1')
  await until(
    async () => !(await placesOf('first')).includes('node-1') && !(await placesOf('source')).includes('node-1'),
  )
  await seconds(60)
  expect(await placesOf('clone')).toEqual(['node-1'])
  const closed = (await list(longhornInstanceManagers)).filter(({ spec }) => spec?.nodeID === 'node-1')
  expect(closed.map((manager) => conditionOf(manager, 'NodeReady')?.reason)).toEqual(['Unschedulable', 'Unschedulable'])
  expect(failures).toEqual([])
  for (const name of ['first', 'source', 'clone']) expect(controls.verify(name).isIntact).toBe(true)
})

it('of the same all but the state of nodes on instance managers fits Longhorn 1.8 too, which has no such field', async () => {
  fixture = await openLonghorn(
    { ownDrainHandling: true, dataEngines: ['v1', 'v2'], volumes: [{ name: 'db', filled: 0.25 }] },
    { definitions: releasedDefinitions('1.8'), change: strictFor('longhorn.io') },
  )
  await fixture.seconds(60)
  const messages = new Set(
    fixture.failures.map(({ error }) => (error instanceof Error ? error.message : String(error))),
  )
  expect([...messages]).toEqual(['strict decoding error: unknown field "status.conditions"'])
})
