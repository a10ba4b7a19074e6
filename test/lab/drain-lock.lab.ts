import { leases, nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { operatorAccount } from '@cofferdam/product/deploy/operator-manifests.ts'
import { disruptionLedgers } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { isReady } from '@cofferdam/simulator/world/pod-facts.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Lab, openLab } from './lab.ts'

const apps = ['my-app', 'your-app']

/** Three replicas on three nodes that ask to stay through a reboot, and a budget that can spare one of them. */
function appManifest(name: string): object[] {
  const labels = { app: name }
  const away = (key: string) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 3_600 })
  const metadata = { name, namespace: 'shop' }
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: {
        replicas: 3,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels, annotations: { 'cofferdam.io/skip-drain': 'true' } },
          spec: {
            containers: [{ name: 'main', image: 'registry.example/app:1' }],
            nodeSelector: { 'lab/apps': 'true' },
            tolerations: [away('node.kubernetes.io/not-ready'), away('node.kubernetes.io/unreachable')],
            affinity: {
              podAntiAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: [
                  { labelSelector: { matchLabels: labels }, topologyKey: 'kubernetes.io/hostname' },
                ],
              },
            },
          },
        },
      },
    },
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata,
      spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
    },
  ]
}

let lab: Lab
beforeAll(async () => {
  lab = await openLab('drain-lock')
  await lab.kubectl('label', 'nodes', 'node-a', 'node-b', 'node-c', 'lab/apps=true')
  await lab.kubectl('create', 'namespace', 'shop')
  const items = apps.flatMap(appManifest)
  await lab.kubectlWith(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }), 'apply', '-f', '-')
  await lab.until('the applications are ready', () => apps.every((app) => readyPods(app).length === 3))
  await lab.installOperator()
  await lab.until('the guard is registered', async () =>
    (await lab.kubectl('get', 'validatingwebhookconfigurations', '-o', 'name')).stdout.includes(
      'cofferdam-eviction-guard',
    ),
  )
})
afterAll(() => lab?.close())

const readyPods = (app: string) =>
  [...lab.views.of(pods).values()].filter(
    ({ metadata, ...pod }) => metadata.labels?.['app'] === app && isReady({ metadata, ...pod }),
  )
const podOn = (app: string, node: string) =>
  [...lab.views.of(pods).values()].find(
    ({ metadata, spec }) => metadata.labels?.['app'] === app && spec.nodeName === node,
  )
const sparable = async (app: string) =>
  (await lab.api.get(podDisruptionBudgets, { namespace: 'shop', name: app })).status?.disruptionsAllowed
const phases = async () =>
  (await lab.api.list(nodeDisruptions)).items.map(({ spec, status }) => `${spec.nodeName} ${status?.phase}`).sort()
const held = async () => {
  const { items } = await lab.api.list(disruptionLedgers)
  return items
    .flatMap(({ status }) => status?.entries ?? [])
    .map(({ key }) => key)
    .sort()
}

it('two drains that need the same two applications never wedge: one goes, one waits and then goes by itself', async () => {
  const stays = apps.map((app) => podOn(app, 'node-a')?.metadata.uid)
  const first = lab.cofferdam('drain', 'node-a', '--reason', 'new kernel')
  await lab.until(
    'the first drain holds both budgets',
    async () => (await held()).filter((key) => key.startsWith('pdb/')).length === 2,
  )
  const second = lab.cofferdam('drain', 'node-b', '--reason', 'new kernel', '--timeout', '10m')
  expect((await first.ended).code).toBe(0)
  expect(apps.map((app) => podOn(app, 'node-a')?.metadata.uid)).toEqual(stays)
  expect(lab.osdsOn('node-a')).toEqual([])

  lab.chapter('Another tool drains node-c: it is told to wait, in our words and over TLS')
  const other = lab.drain('node-c')
  await lab.until('kubectl prints who holds the budget', () => /my-app.*held|held.*my-app|node-a/i.test(other.output()))
  expect(await Promise.all(apps.map(sparable))).toEqual([0, 0])
  expect(await phases()).toEqual(['node-a Drained', 'node-b Waiting'])
  await other.stop()
  await lab.kubectl('uncordon', 'node-c')

  lab.chapter('node-a reboots')
  lab.machines.reboot('node-a', 5)
  await lab.until('the first is over', async () => (await phases()).includes('node-a Completed'), 120)
  expect(apps.map((app) => podOn(app, 'node-a')?.metadata.uid)).toEqual(stays)
  expect((await lab.api.get(nodes, { name: 'node-a' })).spec?.unschedulable).toBeFalsy()

  lab.chapter('The second goes by itself')
  expect((await second.ended).code).toBe(0)
  lab.machines.reboot('node-b', 5)
  await lab.until(
    'the second is over',
    async () => (await phases()).join() === 'node-a Completed,node-b Completed',
    120,
  )
  await lab.until('nothing is held', async () => (await held()).length === 0)
  await lab.until('the budgets are as before', async () => (await Promise.all(apps.map(sparable))).join() === '1,1')
  expect(lab.oracle.violations).toEqual([])
}, 300_000)

it('an owner locks a budget: kubectl drain waits with the reason, and goes on when it is unlocked', async () => {
  const locked = await lab.cofferdam('lock', 'pdb/your-app', '-n', 'shop', '--for', '10m', '--reason', 'rebalancing')
    .ended
  expect(locked.code).toBe(0)
  const drain = lab.drain('node-b')
  await lab.until('kubectl prints the reason', () => drain.output().includes('rebalancing'))
  await lab.seconds(6)
  expect(podOn('your-app', 'node-b')).toBeDefined()
  expect((await lab.cofferdam('unlock', 'pdb/your-app', '-n', 'shop').ended).code).toBe(0)
  expect((await drain.ended).code).toBe(0)
  await lab.kubectl('uncordon', 'node-b')
  await lab.until(
    'all is as before',
    () => apps.every((app) => readyPods(app).length === 3) && lab.osdBudgets().join() === 'rook-ceph-osd',
    120,
  )
}, 240_000)

it('the leader is killed while a node is away: the other adopts the drain, and nothing is lost or freed too early', async () => {
  const drain = lab.cofferdam('drain', 'node-c', '--reason', 'firmware')
  expect((await drain.ended).code).toBe(0)
  const before = await held()
  const holder = (await lab.api.get(leases, operatorAccount)).spec?.holderIdentity ?? ''
  const leader = [...lab.operators()].find(([pod]) => holder.includes(pod))
  leader?.[1].signal('SIGKILL')
  lab.machines.reboot('node-c', 5)
  await lab.until(
    'somebody else leads',
    async () => ((await lab.api.get(leases, operatorAccount)).spec?.holderIdentity ?? holder) !== holder,
  )
  expect(before).toContain('node/node-c')
  await lab.until('it is over', async () => (await phases()).includes('node-c Completed'), 120)
  await lab.until('nothing is held', async () => (await held()).length === 0)
  expect(lab.oracle.violations).toEqual([])
}, 240_000)

it('without any guard the lock of a namespace still holds, and other namespaces go on', async () => {
  await lab.cofferdam('lock', 'pdb/my-app', '-n', 'shop', '--for', '10m', '--reason', 'rebalancing').ended
  await lab.until('the namespace is marked', async () =>
    (await lab.kubectl('get', 'namespace', 'shop', '--show-labels')).stdout.includes('cofferdam.io/locked=true'),
  )
  await lab.kubectl('-n', operatorAccount.namespace, 'scale', 'deployment/cofferdam-operator', '--replicas=0')
  await lab.until('no operator is left', () => lab.operators().size === 0)
  const name = podOn('my-app', 'node-a')?.metadata.name ?? ''
  await expect(evictPod(lab.api, { namespace: 'shop', name })).rejects.toMatchObject({ code: 500 })
  const shop = [...lab.views.of(pods).values()].find(({ metadata }) => metadata.labels?.['app'] === 'shop')
  await evictPod(lab.api, { namespace: 'default', name: shop?.metadata.name ?? '' })
})
