import { describe, expect, it } from 'vitest'
import type { StorageView } from '../../../shared/storage-view.ts'
import { recordedStorage } from './recorded-storage.ts'

const answer = { domain: 'b', osds: [4], nodes: ['worker-b1'], mayDrain: false, explanation: 'zone b must stay.' }

const cases: Record<string, { reason: string; openDomains?: readonly string[]; lasts: boolean | undefined }> = {
  'a zone with too few copies can never go while all others are there': { reason: 'TooFewCopies', lasts: true },
  'a zone with too few copies while another is away only waits: plan said that it can never go': {
    reason: 'TooFewCopies',
    openDomains: ['a'],
    lasts: undefined,
  },
  'damaged data lasts until somebody repairs it, also while another zone is away': {
    reason: 'PgInDoubt',
    openDomains: ['a'],
    lasts: true,
  },
  'a zone that waits for another to come back is no lasting obstacle': {
    reason: 'OtherDomainDown',
    openDomains: ['a'],
    lasts: undefined,
  },
}

describe('what is on record of a node with OSDs', () => {
  it.each(Object.entries(cases))('%s', (_name, { reason, openDomains = [], lasts }) => {
    const view: StorageView = {
      namespace: 'rook-ceph',
      name: 'rook-ceph',
      source: 'record',
      reason,
      explanation: '',
      failureDomainType: 'zone',
      domains: [{ ...answer, reason }],
      openDomains,
      noout: [],
      problems: [],
    }
    const [facts] = recordedStorage([view], 'worker-b1')
    const mayGo = facts?.mayGo
    expect(mayGo?.known === true ? [mayGo.value.allowed, mayGo.value.lasts] : mayGo).toEqual([false, lasts])
  })
})
