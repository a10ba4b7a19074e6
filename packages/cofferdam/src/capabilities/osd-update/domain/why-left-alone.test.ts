import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { describe, expect, it } from 'vitest'
import { whyLeftAlone, whySpokenFor } from './why-left-alone.ts'

type Storage = NonNullable<CephCluster['spec']>['storage']

function deployment(given: { labels?: Record<string, string>; replicas?: number } = {}): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'rook-ceph-osd-0', namespace: 'rook-ceph', labels: given.labels ?? {} },
    spec: {
      replicas: given.replicas ?? 1,
      selector: {},
      template: { spec: { containers: [{ name: 'osd' }] } },
    },
  }
}

function cluster(storage: Storage = {}): CephCluster {
  return { apiVersion: 'ceph.rook.io/v1', kind: 'CephCluster', metadata: { name: 'c' }, spec: { storage } }
}

const migration = { confirmation: 'yes-really-migrate-osds' }
const onSet = { 'ceph.rook.io/DeviceSet': 'set1', encrypted: 'false' }
const encryptedSet = [{ name: 'set1', count: 3, encrypted: true }]

describe('an OSD', () => {
  const cases: Record<string, { labels?: Record<string, string>; storage?: Storage; why: string | undefined }> = {
    'with another store than wanted is updated until somebody confirms its migration': {
      labels: { 'osd-store': 'bluestore-rdr' },
      why: undefined,
    },
    'whose migration to another store is confirmed waits for that': {
      labels: { 'osd-store': 'bluestore-rdr' },
      storage: { migration },
      why: 'it waits for its migration from bluestore-rdr to bluestore',
    },
    'whose migration is confirmed in the older words waits for that': {
      labels: { 'osd-store': 'bluestore' },
      storage: { store: { type: 'bluestore-rdr', updateStore: 'yes-really-update-store' } },
      why: 'it waits for its migration from bluestore to bluestore-rdr',
    },
    'of a set that is to be encrypted waits for its migration': {
      labels: onSet,
      storage: { migration, storageClassDeviceSets: encryptedSet },
      why: 'it waits for its migration: device set set1 is to be encrypted',
    },
    'of a set that is to lose its encryption waits for its migration': {
      labels: { ...onSet, encrypted: 'true' },
      storage: { migration, storageClassDeviceSets: [{ name: 'set1', count: 3 }] },
      why: 'it waits for its migration: device set set1 is to be without encryption',
    },
    'of a set that says nothing of encryption, and has none, is updated though migrations are confirmed': {
      labels: onSet,
      storage: { migration, storageClassDeviceSets: [{ name: 'set1', count: 3 }] },
      why: undefined,
    },
    'of no set is updated though migrations are confirmed': {
      labels: { encrypted: 'true' },
      storage: { migration, storageClassDeviceSets: encryptedSet },
      why: undefined,
    },
    'that has been migrated is updated like all others': {
      labels: { ...onSet, encrypted: 'true', 'osd-store': 'bluestore' },
      storage: { migration, storageClassDeviceSets: encryptedSet },
      why: undefined,
    },
  }
  for (const [name, { labels, storage, why }] of Object.entries(cases)) {
    it(name, () => {
      expect(whyLeftAlone(deployment({ ...(labels !== undefined && { labels }) }), cluster(storage))).toBe(why)
    })
  }

  it('that somebody wants replaced is left alone: an update before that would stop it for nothing', () => {
    const plain = deployment()
    const noted = (key: string, value: string) => ({
      ...plain,
      metadata: { ...plain.metadata, annotations: { [key]: value } },
    })
    expect([
      whySpokenFor(noted('ceph.rook.io/replace-osd', 'yes'), cluster()),
      whySpokenFor(noted('osd.rook.io/replace-in-progress', 'true'), cluster()),
      whySpokenFor(noted('ceph.rook.io/replace-osd', 'no'), cluster()),
    ]).toEqual([
      'it waits for its replacement (annotation ceph.rook.io/replace-osd)',
      'it is being replaced',
      undefined,
    ])
  })

  it('that is scaled to zero is not updated, which would be awaited in vain, but may be removed when it is gone for good', () => {
    const stopped = deployment({ replicas: 0 })
    expect([whyLeftAlone(stopped, cluster()), whySpokenFor(stopped, cluster())]).toEqual([
      'its Deployment is scaled to zero',
      undefined,
    ])
  })
})
