import {
  longhornNamespace,
  longhornReplicas,
  longhornSettings,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import {
  customResourceDefinitions,
  namespaces,
  podDisruptionBudgets,
  pods,
} from '@cofferdam/kubernetes/api/resources.ts'
import { persistentVolumeClaims } from '@cofferdam/kubernetes/api/storage.ts'
import { afterEach, expect, it } from 'vitest'
import { releasedDefinitions, releasedKinds } from '../world/longhorn/testing/released-definitions.ts'
import { startWorld } from '../world/start-world.ts'
import { openScenario } from '../world/testing/scenario.ts'
import { persistentVolumes, storageClasses } from './build-longhorn.ts'
import { parseClusterFile } from './cluster-file.ts'
import type { LonghornClusterDescription } from './describe-longhorn.ts'
import { seedCluster } from './seed-cluster.ts'
import { seedLonghorn } from './seed-longhorn.ts'
import { startLonghorn } from './start-longhorn.ts'

const namespace = longhornNamespace
const endings: (() => void)[] = []
afterEach(() => {
  for (let end = endings.pop(); end !== undefined; end = endings.pop()) end()
})

const describeCluster = (longhorn: string) =>
  parseClusterFile(
    `
pace: { readyAfterSeconds: 1, terminationSeconds: 1 }
zones: [{ name: a }]
nodes: [{ name: "n{n}", count: 3 }]
apps:
  - { name: cart, namespace: shop }
  - { name: db, namespace: shop, kind: StatefulSet, replicas: 2, spread: host }
longhorn: ${longhorn}
`,
    'my.yaml',
  )

async function open(longhorn: string) {
  const description = describeCluster(longhorn)
  const scenario = openScenario()
  const { api, clock, random, failures } = scenario
  const world = startWorld({ api, clock, random, onFailure: (failure) => failures.push(failure) })
  endings.push(
    () => scenario.stop(),
    () => world.stop(),
  )
  await seedCluster(api, description)
  const started = startLonghorn(description.longhorn as LonghornClusterDescription, { api, clock, random, world })
  endings.push(() => started.stop())
  const annotations = async () =>
    (await api.get(longhornSettings, { namespace, name: 'node-drain-policy' })).metadata.annotations
  return { ...scenario, longhorn: started, annotations }
}

it('pods attach the volumes that they claim, others are attached by hand or not at all, and each has its copies from the start', async () => {
  const { api, list, seconds, longhorn, failures, annotations } = await open(`
  trigger: drain
  surplus: remove
  storageClasses: [{ name: precious, policy: block-for-eviction }]
  volumes:
    - { name: cart, replicas: 1, attachedBy: shop/cart, storageClass: precious }
    - { name: db-0, replicas: 2, attachedBy: shop/db-0, size: 1500Mi }
    - { name: db-1, replicas: 2, attachedBy: shop/db-1, size: 1500Mi }
    - { name: by-hand, replicas: 1, attachedTo: n2, placedOn: [n3], policy: always-allow }
    - { name: unused, storageClass: longhorn }
`)
  expect(await longhorn.observeMissing()).not.toEqual([])
  await seconds(40)
  expect(await longhorn.observeMissing()).toEqual([])

  const placed = new Map((await list(pods)).map(({ metadata, spec }) => [metadata.name, spec.nodeName]))
  const cart = [...placed].find(([name]) => name.startsWith('cart-'))?.[1]
  const volumes = await list(longhornVolumes)
  expect(volumes.map(({ metadata, status }) => [metadata.name, status?.state, status?.currentNodeID])).toEqual([
    ['by-hand', 'attached', 'n2'],
    ['cart', 'attached', cart],
    ['db-0', 'attached', placed.get('db-0')],
    ['db-1', 'attached', placed.get('db-1')],
    ['unused', 'detached', ''],
  ])
  expect(volumes[0]?.metadata.labels).toEqual({ 'cofferdam.io/node-drain-policy': 'always-allow' })
  const replicas = (await list(longhornReplicas)).map(({ spec }) => `${spec?.volumeName} ${spec?.nodeID}`)
  expect(replicas).toHaveLength(1 + 1 + 2 + 2 + 3)
  expect(replicas).toContain('by-hand n3')

  const claims = await list(persistentVolumeClaims)
  expect(claims.map(({ metadata, spec }) => [metadata.name, (spec as { volumeName: string }).volumeName])).toEqual([
    ['cart-data', 'cart'],
    ['data-db-0', 'db-0'],
    ['data-db-1', 'db-1'],
  ])
  const classes = await list(storageClasses)
  expect(classes).toMatchObject([
    { metadata: { name: 'longhorn' } },
    { metadata: { name: 'precious' }, parameters: { nodeDrainPolicy: 'block-for-eviction' } },
  ])
  expect(await list(persistentVolumes)).toMatchObject([
    { metadata: { name: 'cart' }, spec: { storageClassName: 'precious' }, status: { phase: 'Bound' } },
    { metadata: { name: 'db-0' }, spec: { capacity: { storage: '1500Mi' } }, status: { phase: 'Bound' } },
    { metadata: { name: 'db-1' } },
    { metadata: { name: 'unused' }, status: { phase: 'Available' } },
  ])
  expect(await annotations()).toEqual({
    'cofferdam.io/manage': 'hold',
    'cofferdam.io/surplus': 'remove',
    'cofferdam.io/trigger': 'drain',
  })
  expect(failures).toEqual([])
  expect(await api.list(pods, { namespace: 'shop' })).toMatchObject({ items: { length: 3 } })
})

it('Longhorn has its budgets without an operator, which does what the file says', async () => {
  const observed = await open('{ manage: observe, volumes: [{ name: v }] }')
  await observed.seconds(40)
  expect(await observed.longhorn.observeMissing()).toEqual([])
  expect(await observed.annotations()).toEqual({ 'cofferdam.io/manage': 'observe' })

  const guided = await open('{ manage: guide, wantedPolicy: block-for-eviction, volumes: [{ name: v }] }')
  expect(await guided.annotations()).toEqual({
    'cofferdam.io/manage': 'guide',
    'cofferdam.io/wanted-policy': 'block-for-eviction',
  })
})

it('a policy for reboots is written where the operator reads it: a file without the word could only show the other drains', async () => {
  const { annotations } = await open(
    '{ drainPolicy: block-for-eviction, rebootPolicy: block-for-eviction-if-contains-last-replica, volumes: [{ name: v }] }',
  )
  expect(await annotations()).toEqual({
    'cofferdam.io/manage': 'hold',
    'cofferdam.io/reboot-policy': 'block-for-eviction-if-contains-last-replica',
  })
})

it('a second seeding changes nothing', async () => {
  const { api, server, stop } = openScenario()
  endings.push(stop)
  const description = describeCluster(
    '{ volumes: [{ name: v, replicas: 1, attachedBy: shop/cart }, { name: w, attachedTo: n1 }] }',
  )
  await seedCluster(api, description)
  const { version } = server
  await seedCluster(api, description)
  expect(server.version).toBe(version)
})

it('all of it is in the namespace that the file names, and it works there as anywhere', async () => {
  const { api, list, seconds, longhorn, failures } = await open(
    '{ namespace: storage, volumes: [{ name: db, attachedBy: shop/cart, replicas: 2 }] }',
  )
  await seconds(60)
  expect([await longhorn.observeMissing(), failures]).toEqual([[], []])
  expect((await api.get(longhornVolumes, { namespace: 'storage', name: 'db' })).status?.state).toBe('attached')
  for (const type of [...releasedKinds, podDisruptionBudgets]) {
    const places = new Set((await list<KubeObject>(type)).map(({ metadata }) => metadata.namespace))
    expect([type.kind, [...places]]).toEqual([type.kind, ['storage']])
  }
  await expect(api.get(namespaces, { name: longhornNamespace })).rejects.toMatchObject({ reason: 'NotFound' })
})

it("nothing is added to Longhorn's own definitions where they are there before it", async () => {
  const { api } = openScenario()
  const definitions = releasedDefinitions('1.12')
  for (const definition of definitions) await api.create(customResourceDefinitions, definition)
  const { longhorn } = describeCluster('{ volumes: [{ name: db }] }')
  await seedLonghorn(api, longhorn as LonghornClusterDescription, { definitions: 'present' })
  const { items } = await api.list(customResourceDefinitions)
  expect(items.map(({ metadata }) => metadata.name)).toEqual(definitions.map(({ metadata }) => metadata.name).sort())
  expect((await api.get(longhornVolumes, { namespace, name: 'db' })).spec?.numberOfReplicas).toBe(3)
})
