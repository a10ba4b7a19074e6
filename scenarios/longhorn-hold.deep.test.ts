import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { persistentVolumes, storageClasses } from '@cofferdam/kubernetes/api/storage.ts'
import {
  triggerAnnotation,
  wantedPolicyAnnotation,
} from '@cofferdam/product/capabilities/longhorn-drain/domain/drain-settings.ts'
import { drainPolicyLabel, drainPolicyParameter } from '@cofferdam/product/capabilities/longhorn-drain/domain/policy.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type LonghornFixture, openLonghornFixture } from './testing/longhorn-fixture.ts'
import { expectNothingBroken, pair, single, slowly, trio } from './testing/longhorn-rows.ts'
import { expectDrainByWantedPolicy, openWithWantedPolicy } from './testing/longhorn-wanted-policy.ts'

let fixture: LonghornFixture
afterEach(() => fixture.close())

const precious = { [drainPolicyLabel]: 'block-for-eviction' }

describe('a stricter policy is wanted than the one that is in force', () => {
  it.each([
    ['always-allow', 'block-for-eviction-if-contains-last-replica', ['node-1']],
    ['allow-if-replica-is-stopped', 'block-for-eviction', ['node-1', 'node-2']],
  ] as const)(
    '%s, wanted is %s: a budget is there before the cordon, so a drain in the very next moment waits until all that must leave has left',
    async (policy, wanted, held) => {
      fixture = await openWithWantedPolicy(policy, wanted)
      await expectDrainByWantedPolicy(fixture, { policy, wanted, held })
    },
  )
})

describe('a volume has a policy of its own', () => {
  it('by its StorageClass: the same, and a volume without one stays under the setting', async () => {
    fixture = await openLonghornFixture(
      { volumes: [pair, trio], timings: slowly },
      { policy: 'block-if-contains-last-replica', nodeCount: 5 },
    )
    await fixture.api.create(storageClasses, {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'precious' },
      provisioner: 'driver.longhorn.io',
      parameters: { [drainPolicyParameter]: 'block-for-eviction' },
    } as KubeObject)
    await fixture.api.create(persistentVolumes, {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'pv-db' },
      spec: {
        capacity: { storage: '256Mi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'precious',
        csi: { driver: 'driver.longhorn.io', volumeHandle: 'db' },
      },
    } as KubeObject)
    fixture.operate({ isGuard: true })
    await fixture.use('db', 'node-2')
    await fixture.seconds(5)
    expect(fixture.held()).toEqual(['node-1', 'node-2'])
    await fixture.drained('node-1', 180)
    expect(fixture.placesOf('db')).not.toContain('node-1')
    await fixture.cordon('node-1', false)
    await fixture.seconds(10)
    expect([fixture.askedDisks(), fixture.policyInForce()]).toEqual([[], 'block-if-contains-last-replica'])
    expectNothingBroken(fixture, 'db', 'trio')
  })

  it('that lets it go, and it is the only copy: the setting decides in Longhorn, which holds the node, and that is said', async () => {
    fixture = await openLonghornFixture(
      { volumes: [{ ...single, labels: { [drainPolicyLabel]: 'always-allow' } }], timings: slowly },
      { policy: 'block-if-contains-last-replica' },
    )
    fixture.operate({ isGuard: true })
    await fixture.use('solo', 'node-2')
    await fixture.seconds(5)
    expect(fixture.held()).toEqual([])
    const drain = fixture.drain('node-1')
    await fixture.seconds(150)
    expect(drain.isOver()).toBe(false)
    expect(await fixture.told('node-1')).toContain('LonghornStuck')
    expectNothingBroken(fixture, 'solo')
  })
})

describe('with trigger: drain', () => {
  it('a cordon alone moves nothing and changes no setting, an eviction that is tried begins it, and the node is held all the while', async () => {
    fixture = await openLonghornFixture(
      { volumes: [single, pair], timings: slowly },
      {
        policy: 'block-if-contains-last-replica',
        annotations: { [wantedPolicyAnnotation]: 'block-for-eviction', [triggerAnnotation]: 'drain' },
      },
    )
    fixture.operate({ isGuard: true })
    await fixture.use('db', 'node-2')
    await fixture.use('solo', 'node-3')
    await fixture.cordon('node-1')
    await fixture.seconds(300)
    expect([fixture.policyInForce(), fixture.flags(), fixture.held()]).toEqual([
      'block-if-contains-last-replica',
      [],
      ['node-1', 'node-2'],
    ])
    await fixture.drained('node-1', 240)
    expect([...fixture.placesOf('db'), ...fixture.placesOf('solo')]).not.toContain('node-1')
    await fixture.cordon('node-1', false)
    await fixture.until('the policy is back', () => fixture.policyInForce() === 'block-if-contains-last-replica', 30)
    expectNothingBroken(fixture, 'db', 'solo')
  })
})

describe('with the autoscaler', () => {
  it('a node is held that has something to hold and Longhorn would thin, and no other', async () => {
    fixture = await openLonghornFixture(
      {
        volumes: [{ ...trio, labels: precious }],
        timings: slowly,
        settings: { 'kubernetes-cluster-autoscaler-enabled': 'true' },
      },
      { policy: 'block-if-contains-last-replica', nodeCount: 4 },
    )
    fixture.operate({ isGuard: true })
    await fixture.seconds(60)
    expect(fixture.guarded()).toEqual(['node-1', 'node-2', 'node-3'])
    expect(fixture.held().length).toBeGreaterThan(1)
    await fixture.drained('node-4', 60)
    const drain = fixture.drain('node-1')
    await fixture.seconds(60)
    expect([drain.isOver(), fixture.placesOf('trio')]).toEqual([false, ['node-1', 'node-2', 'node-3']])
    await fixture.cordon('node-4', false)
    await fixture.until('the drain is over', drain.isOver, 180)
    expect(fixture.placesOf('trio')).toEqual(['node-2', 'node-3', 'node-4'])
    expectNothingBroken(fixture, 'trio')
  })
})
