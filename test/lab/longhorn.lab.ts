import { afterAll, beforeAll, expect, it } from 'vitest'
import { longhornNamespace } from '../../src/api/longhorn.ts'
import { podDisruptionBudgets, pods } from '../../src/api/resources.ts'
import { type LonghornLab, openLonghornLab } from './longhorn-lab.ts'

const nodeNames = ['node-a', 'node-b', 'node-c']
const pair = { name: 'db', numberOfReplicas: 2, placedOn: ['node-a', 'node-b'], filled: 0.25 }
const timings = { attachMs: 300, detachMs: 300, resyncMs: 5_000, rebuildBytesPerSecond: 48 * 1024 ** 2 }

/** One pod that has the volume mounted, wherever it runs. */
const workload = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'db', namespace: 'default' },
  spec: {
    replicas: 1,
    strategy: { type: 'Recreate' },
    selector: { matchLabels: { app: 'db' } },
    template: {
      metadata: { labels: { app: 'db' }, annotations: { 'cofferdam.io/longhorn-volumes': 'db' } },
      spec: {
        containers: [{ name: 'main', image: 'registry.example/db:1' }],
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              {
                weight: 100,
                preference: {
                  matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['node-a'] }],
                },
              },
            ],
          },
        },
      },
    },
  },
}

let lab: LonghornLab
beforeAll(async () => {
  lab = await openLonghornLab('longhorn', { nodeNames, longhorn: { volumes: [pair], timings } })
  await lab.kubectlWith(workload, 'apply', '-f', '-')
  await lab.installOperator()
  await lab.until('the volume is attached and healthy', () => lab.isHealthy('db'))
})
afterAll(() => lab?.close())

const setting = 'settings.longhorn.io/node-drain-policy'
const inLonghorn = ['-n', longhornNamespace]
const guarded = async () =>
  (await lab.api.list(podDisruptionBudgets, { namespace: longhornNamespace })).items
    .flatMap(({ spec }) => spec.selector?.matchLabels?.['longhorn.io/node'] ?? [])
    .sort()
const nodeOfWorkload = async () =>
  (await lab.api.list(pods, { namespace: 'default', labelSelector: 'app=db' })).items.map(({ spec }) => spec.nodeName)

it('in charge: kubectl drain waits until the replicas have moved, ends by itself, and no byte is lost', async () => {
  await lab.kubectl(...inLonghorn, 'annotate', setting, 'cofferdam.io/manage=owner')
  await lab.kubectl(...inLonghorn, 'patch', setting, '--type=merge', '-p', '{"value":"block-for-eviction"}')
  await lab.until('every node is guarded', async () => (await guarded()).join() === nodeNames.join())
  expect(await nodeOfWorkload()).toEqual(['node-a'])
  lab.controls.writeData('db', { blocks: 8 })

  const drain = lab.drain('node-a')
  await lab.until('kubectl is told to wait for the budget', async () =>
    /violate the pod's disruption budget/.test(drain.output()),
  )
  const explained = await lab.cofferdam('explain', 'node/node-a').ended
  expect(explained.stdout).toMatch(/db/)
  expect((await drain.ended).code).toBe(0)
  expect(await lab.wholeCopies('db')).toEqual(['node-b', 'node-c'])
  expect(await guarded()).toEqual(['node-b', 'node-c'])
  expect(lab.controls.verify('db').isIntact).toBe(true)

  await lab.kubectl('uncordon', 'node-a')
  await lab.until('every node is guarded again', async () => (await guarded()).join() === nodeNames.join())
})
