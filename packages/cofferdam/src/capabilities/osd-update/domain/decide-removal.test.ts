import { describe, expect, it } from 'vitest'
import type { StorageArbiter } from '../../../ledger/rules/storage-arbiter.ts'
import { known, unknown } from '../../../shared/observed.ts'
import { decideRemoval, type RemovalSnapshot } from './decide-removal.ts'
import { defaultUpdateSettings } from './update-settings.ts'

const hour = 3_600_000
const nowMs = 100 * hour

const cluster: RemovalSnapshot['cluster'] = {
  namespace: 'rook-ceph',
  name: 'my-cluster',
  uid: 'uid-1',
  generation: 1,
  isBeingDeleted: false,
  mode: 'own',
  settings: { ...defaultUpdateSettings, removeIfOutAndSafeToDestroy: true },
  isUpgrade: false,
}
const gone = { id: 4, createdMs: hour, unreadySinceMs: nowMs - hour, isSpokenFor: false }
const fine = { id: 5, createdMs: hour, unreadySinceMs: undefined, isSpokenFor: false }
const lost = known({ fsid: 'f', downAndOut: new Set([4]), safe: new Set([4]) })
const snapshot: RemovalSnapshot = { nowMs, cluster, osds: [gone, fine], ceph: lost }

const free: StorageArbiter = { key: 'storage/rook-ceph/my-cluster', own: [], others: [], tickets: [] }
const entry = {
  key: free.key,
  uid: 'uid-1',
  scope: 'zone-a',
  requestId: 'drain/node-a',
  holder: 'a drain',
  since: '',
  epoch: 1,
  state: 'Acting',
} as StorageArbiter['others'][number]

const none = { ask: [], remove: [], recheckAfterSeconds: undefined }

describe('the Deployment of an OSD that is gone', () => {
  const cases: Record<string, { given: Partial<RemovalSnapshot>; decision: ReturnType<typeof decideRemoval> }> = {
    'goes when Ceph has it down and out and can do without it': {
      given: {},
      decision: { ask: [4], remove: [4], recheckAfterSeconds: undefined },
    },
    'goes when nobody holds the storage': {
      given: { arbiter: known(free) },
      decision: { ask: [4], remove: [4], recheckAfterSeconds: undefined },
    },
    'is no question to Ceph unless the cluster asked for it': {
      given: { cluster: { ...cluster, settings: defaultUpdateSettings } },
      decision: none,
    },
    "is Rook's beside Rook": { given: { cluster: { ...cluster, mode: 'plan' } }, decision: none },
    'stays with a cluster that is being deleted': {
      given: { cluster: { ...cluster, isBeingDeleted: true } },
      decision: none,
    },
    'is no question to Ceph while every pod is ready': { given: { osds: [fine], ceph: undefined }, decision: none },
    'is asked about first': {
      given: { ceph: undefined },
      decision: { ask: [4], remove: [], recheckAfterSeconds: 60 },
    },
    'stays while Ceph has it up or in, however long its pod has not been ready': {
      given: { ceph: known({ fsid: 'f', downAndOut: new Set(), safe: new Set([4]) }) },
      decision: { ask: [4], remove: [], recheckAfterSeconds: 60 },
    },
    'stays while its data would be missed': {
      given: { ceph: known({ fsid: 'f', downAndOut: new Set([4]), safe: new Set() }) },
      decision: { ask: [4], remove: [], recheckAfterSeconds: 60 },
    },
    'stays when Ceph does not answer': {
      given: { ceph: unknown('silence') },
      decision: { ask: [4], remove: [], recheckAfterSeconds: 60 },
    },
    'stays while its pod has not been ready for a few minutes only': {
      given: { osds: [{ ...gone, unreadySinceMs: nowMs - 60_000 }], ceph: undefined },
      decision: { ask: [], remove: [], recheckAfterSeconds: 540 },
    },
    'stays through the first hour of a new OSD': {
      given: { osds: [{ ...gone, createdMs: nowMs - hour / 2 }], ceph: undefined },
      decision: { ask: [], remove: [], recheckAfterSeconds: 1_800 },
    },
    'stays when nobody knows how old it is': {
      given: { osds: [{ ...gone, createdMs: undefined }] },
      decision: none,
    },
    'stays when somebody has something in mind with it': {
      given: { osds: [{ ...gone, isSpokenFor: true }] },
      decision: none,
    },
    'stays while somebody drains the storage': {
      given: { arbiter: known({ ...free, others: [entry] }) },
      decision: { ...none, recheckAfterSeconds: 60 },
    },
    'stays while nobody knows who holds the storage': {
      given: { arbiter: unknown('the ledger cannot be read') },
      decision: { ...none, recheckAfterSeconds: 60 },
    },
  }
  for (const [name, { given, decision }] of Object.entries(cases)) {
    it(name, () => {
      expect(decideRemoval({ ...snapshot, ...given })).toEqual(decision)
    })
  }
})
