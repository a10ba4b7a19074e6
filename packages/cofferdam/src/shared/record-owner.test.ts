import { describe, expect, it } from 'vitest'
import { recordOwners } from './record-owner.ts'

const cluster = { name: 'rook-ceph', uid: 'uid-1' }
const own = { apiVersion: 'ceph.rook.io/v1', kind: 'CephCluster', ...cluster }
const backup = { apiVersion: 'v1', kind: 'ConfigMap', name: 'backup', uid: 'uid-2' }

type Given = Parameters<typeof recordOwners>

const cases: Record<string, { given: Given; then: ReturnType<typeof recordOwners> }> = {
  'a calm record goes with its cluster: left behind, the next cluster of that name would read it as its own': {
    given: [undefined, cluster, { mustOutlive: false }],
    then: [own],
  },
  'a record of flags in Ceph outlives the object of its cluster, which may be put back: else they would stay set for ever':
    {
      given: [[own], cluster, { mustOutlive: true }],
      then: undefined,
    },
  'owners that others wrote stay': {
    given: [[backup], cluster, { mustOutlive: false }],
    then: [backup, own],
  },
  'a record that Rook gave to the cluster has its owner, and needs no second reference': {
    given: [[{ ...own, controller: true }], cluster, { mustOutlive: false }],
    then: [{ ...own, controller: true }],
  },
  'a cluster without a uid owns nothing: the garbage collector would take the record at once': {
    given: [undefined, { ...cluster, uid: '' }, { mustOutlive: false }],
    then: undefined,
  },
}

describe('recordOwners', () => {
  for (const [sentence, { given, then }] of Object.entries(cases)) {
    it(sentence, () => {
      expect(recordOwners(...given)).toEqual(then)
    })
  }
})
