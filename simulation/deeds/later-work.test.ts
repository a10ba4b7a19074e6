import { openshiftMachineNamespace, openshiftMachines } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { nodeMaintenances } from '@cofferdam/kubernetes/api/kinds/node-maintenance.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { afterEach, expect, it } from 'vitest'
import type { ClusterShape } from '../story.ts'
import { type Deeds, openDeeds, smallShape } from './testing/open-deeds.ts'

let deeds: Deeds
afterEach(() => deeds.stage.close())

const withTools: ClusterShape = { ...smallShape, tools: ['node-maintenance', 'machine-config'] }
const machines = { api: 'openshift', volumes: 'follow' }
const withMachines: ClusterShape = {
  ...smallShape,
  file: { ...smallShape.file, machines },
  hasMachines: true,
  tools: [],
}
const withOsds: ClusterShape = {
  ...smallShape,
  file: { ...smallShape.file, ceph: { pools: [{ name: 'replicapool', failureDomain: 'host', pgs: 8 }] } },
  osds: [0, 1, 2],
}

const requests = async () =>
  (await deeds.stage.api.list(nodeDisruptions)).items.map(({ spec, status }) => `${spec.nodeName} ${status?.phase}`)

it('two requests of the same moment are for two nodes, and one of them waits for the other', async () => {
  deeds = await openDeeds(withOsds)
  await deeds.perform('two people ask for two nodes at the same moment')
  await deeds.stage.clock.advance(5_000)
  const phases = await requests()
  expect(new Set(phases.map((line) => line.split(' ')[0])).size).toBe(2)
  expect(phases.filter((line) => line.endsWith(' Waiting'))).toHaveLength(1)
})

it('a request that is withdrawn is gone, and its node is open again', async () => {
  deeds = await openDeeds()
  await deeds.perform('a request that is withdrawn')
  await deeds.stage.clock.advance(120_000)
  expect(await requests()).toEqual([])
  expect(deeds.writes.some(({ type }) => type.plural === 'nodedisruptions')).toBe(true)
})

it('a node in maintenance has a request of its own, and is given back', async () => {
  deeds = await openDeeds(withTools)
  await deeds.perform('a node is put into maintenance, and taken out of it')
  expect((await requests()).filter((line) => /Drained|Recovering|Completed/.test(line))).toHaveLength(1)
  await deeds.stage.clock.advance(60_000)
  expect((await deeds.stage.api.list(nodeMaintenances)).items).toEqual([])
})

it('all nodes get another machine configuration, one after the other', async () => {
  deeds = await openDeeds(withTools)
  await deeds.perform('nodes are to get another machine configuration', 7)
  await deeds.stage.clock.advance(900_000)
  expect(deeds.stage.machineConfigs?.states().map((state) => state.split(' ').slice(1).join(' '))).toEqual(
    Array(3).fill('Done config-7'),
  )
})

it('a machine that is deleted is drained, and another takes its place', async () => {
  deeds = await openDeeds(withMachines)
  const names = async () =>
    (await deeds.stage.api.list(openshiftMachines, { namespace: openshiftMachineNamespace })).items.map(
      ({ metadata }) => metadata.name,
    )
  const before = await names()
  await deeds.perform('a machine is deleted, and its set makes another', 3)
  await deeds.stage.clock.advance(300_000)
  const after = await names()
  expect([after.length, after.filter((name) => before.includes(name)).length]).toEqual([3, 2])
})

it('an OSD that is marked out stays so until somebody marks it in again', async () => {
  deeds = await openDeeds(withOsds)
  const weights = async () => {
    const { out } = (await deeds.stage.ceph?.commands.run({ prefix: 'osd dump' })) ?? {}
    const { osds } = JSON.parse(String(out)) as { readonly osds: readonly { readonly in: number }[] }
    return osds.map((osd) => osd.in).sort()
  }
  await deeds.perform('an OSD is marked out by hand, and in again')
  expect(await weights()).toEqual([0, 1, 1])
  await deeds.mend()
  await deeds.stage.clock.advance(60_000)
  expect(await weights()).toEqual([1, 1, 1])
})

it('a new version of an application replaces all of its pods', async () => {
  deeds = await openDeeds()
  const names = async () =>
    (await deeds.stage.api.list(pods, { namespace: 'shop' })).items.map(({ metadata }) => metadata.uid)
  const before = await names()
  await deeds.perform('an application is rolled out')
  await deeds.stage.clock.advance(120_000)
  const after = await names()
  expect([after.length, after.filter((uid) => before.includes(uid))]).toEqual([3, []])
})
