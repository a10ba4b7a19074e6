import { longhornNamespace, longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import {
  rebootPolicyAnnotation,
  wantedPolicyAnnotation,
} from '@cofferdam/product/capabilities/longhorn-drain/domain/drain-settings.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { afterEach, expect, it } from 'vitest'
import { type LonghornFixture, openLonghornFixture } from './testing/longhorn-fixture.ts'

let fixture: LonghornFixture
afterEach(() => fixture.close())

const mib = 1024 ** 2
const data = { filled: 0.25, sizeBytes: 256 * mib }
const volumes = [
  { name: 'db', numberOfReplicas: 2, placedOn: ['node-1', 'node-2'], ...data },
  { name: 'solo', numberOfReplicas: 1, placedOn: ['node-1'], ...data },
]
const isCordoned = (node: string) => fixture.views.of(nodes).get(node)?.spec?.unschedulable === true

/** The setting lets go what has another copy; while a node leaves, more than that is wanted. */
async function open(annotations: Readonly<Record<string, string>> = {}): Promise<void> {
  fixture = await openLonghornFixture(
    { volumes, timings: { rebuildBytesPerSecond: 8 * mib } },
    {
      policy: 'block-if-contains-last-replica',
      annotations: { [wantedPolicyAnnotation]: 'block-for-eviction', ...annotations },
    },
  )
  fixture.operate({ isGuard: true })
  await fixture.use('db', 'node-2')
  await fixture.use('solo', 'node-1', 'node-2')
  await fixture.seconds(5)
}

it('a node that is to be removed is cordoned, all of its replicas move, and then it may go', async () => {
  await open()
  const start = fixture.clock.now()
  fixture.trace.chapter('node-1 is to be removed')
  await fixture.request('remove-1', { nodeName: 'node-1', intent: 'Remove' })
  await fixture.until('it is cordoned', () => isCordoned('node-1'), 60)
  await fixture.until('it may go', () => fixture.phaseOf('remove-1') === 'Drained', 300)
  expect([...fixture.placesOf('db'), ...fixture.placesOf('solo')]).not.toContain('node-1')
  expect(fixture.robustnessSince('db', start)).not.toContain('degraded')
  expect(fixture.guarded()).toEqual(['node-2', 'node-3'])
  expect(fixture.policyInForce()).toBe('block-for-eviction')
  expect(fixture.isIntact('db', 'solo')).toBe(true)
  expect(fixture.oracle.violations).toEqual([])
  await expect(fixture.trace.text()).toMatchFileSnapshot('./longhorn-removal.golden.txt')
})

it('a node that reboots is emptied too where the policy says so: its replicas stayed on it, and volumes were degraded for as long as it was away', async () => {
  await open()
  const start = fixture.clock.now()
  await fixture.request('reboot-1', { nodeName: 'node-1' })
  await fixture.until('it may go', () => fixture.phaseOf('reboot-1') === 'Drained', 300)
  expect([...fixture.placesOf('db'), ...fixture.placesOf('solo')]).not.toContain('node-1')
  fixture.world.kubelet.reboot('node-1', 60)
  await fixture.until('it is completed', () => fixture.phaseOf('reboot-1') === 'Completed', 600)
  expect(fixture.robustnessSince('db', start)).not.toContain('degraded')
  expect(fixture.isIntact('db', 'solo')).toBe(true)
  expect(fixture.oracle.violations).toEqual([])
})

it('a node that reboots under a policy for reboots moves only the last copy; what stays on it is whole again before the request is completed', async () => {
  await open({ [rebootPolicyAnnotation]: 'block-for-eviction-if-contains-last-replica' })
  await fixture.request('reboot-1', { nodeName: 'node-1' })
  await fixture.until('it may go', () => fixture.phaseOf('reboot-1') === 'Drained', 300)
  expect([fixture.placesOf('db'), fixture.placesOf('solo').includes('node-1')]).toEqual([['node-1', 'node-2'], false])
  fixture.world.kubelet.reboot('node-1', 60)
  await fixture.until('it is completed', () => fixture.phaseOf('reboot-1') === 'Completed', 600)
  await fixture.until('db is healthy', () => fixture.robustnessOf('db') === 'healthy', 120)
  expect(fixture.policyInForce()).toBe('block-if-contains-last-replica')
  expect([isCordoned('node-1'), fixture.flags(), fixture.placesOf('db')]).toEqual([false, [], ['node-1', 'node-2']])
  expect(fixture.isIntact('db', 'solo')).toBe(true)
  expect(fixture.oracle.violations).toEqual([])
})

it('an empty node waits while copies may come to it from another node that leaves: both were removed at once, the copies had no place any more, and the other was never drained', async () => {
  await open()
  const limit = { namespace: longhornNamespace, name: 'concurrent-replica-rebuild-per-node-limit' }
  const allowRebuilds = (value: string) =>
    fixture.api.patch(longhornSettings, limit, { type: 'merge', body: { value } })
  await allowRebuilds('0')
  await fixture.request('remove-1', { nodeName: 'node-1', intent: 'Remove' })
  await fixture.until('it is cordoned', () => isCordoned('node-1'), 60)
  await fixture.request('remove-3', { nodeName: 'node-3', intent: 'Remove' })
  await fixture.seconds(120)
  expect([fixture.phaseOf('remove-3'), isCordoned('node-3'), fixture.placesOf('db')]).toEqual([
    'Waiting',
    false,
    ['node-1', 'node-2'],
  ])
  expect(fixture.views.of(nodeDisruptions).get('remove-3')?.status?.blockedBy).toMatchObject([
    {
      object: 'storage/longhorn-system/longhorn',
      reason: 'NodeTakesCopies',
      wayOut: 'Copies that leave the node of that request may come to node-3. It goes when that node is back or gone.',
    },
  ])
  await allowRebuilds('5')
  await fixture.until('node-1 may go', () => fixture.phaseOf('remove-1') === 'Drained', 300)
  expect([isCordoned('node-3'), fixture.placesOf('db')]).toEqual([false, ['node-2', 'node-3']])
  expect(fixture.isIntact('db', 'solo')).toBe(true)
  expect(fixture.oracle.violations).toEqual([])
})
