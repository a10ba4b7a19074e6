import { describe, expect, it } from 'vitest'
import { emptyLedger, type LedgerEntry } from '../../../ledger/rules/ledger.ts'
import { known, unknown } from '../../../shared/observed.ts'
import { type DrainedDomains, storageHolders } from './storage-holders.ts'

const cluster = { namespace: 'rook-ceph', name: 'my-cluster', uid: 'uid-1' }

function entry(requestId: string, more: Partial<LedgerEntry> = {}): LedgerEntry {
  const held = { key: 'storage/rook-ceph/my-cluster', uid: 'uid-1', scope: 'a', holder: `holder of ${requestId}` }
  return { ...held, requestId, epoch: 1, state: 'Acting', since: '', renewSequence: 0, ...more }
}

const domains = [
  { domain: 'a', nodes: ['node-a'] },
  { domain: 'b', nodes: ['node-b'] },
]
const drain = (...nodes: string[]): DrainedDomains => ({ domains, closed: new Set(nodes) })

interface Case {
  readonly entry: LedgerEntry
  /** Left out: not known. */
  readonly drained?: DrainedDomains
  /** Requests, with the failure domain that they keep from being fenced. */
  readonly then: readonly string[]
}

const cases: Record<string, Case> = {
  'a request that acts keeps all machines but those of its own failure domain': {
    entry: entry('reboot-1'),
    then: ['reboot-1 a'],
  },
  'a request that has not begun keeps all of them: it begins only when it sees fencing closed': {
    entry: entry('reboot-1', { state: 'Granted' }),
    then: ['reboot-1 all'],
  },
  'a request whose holder is gone still counts': {
    entry: entry('reboot-1', { state: 'Orphaned' }),
    then: ['reboot-1 a'],
  },
  'an update keeps all of them': { entry: entry('osd-update/uid-1', { scope: '' }), then: ['osd-update/uid-1 all'] },
  'a fence of the cluster is not in its own way': { entry: entry('fencing/uid-1/a'), then: [] },
  'a fence of an earlier cluster with the same name is': {
    entry: entry('fencing/uid-0/a'),
    then: ['fencing/uid-0/a a'],
  },
  "whoever holds the storage of another cluster is in nobody's way": {
    entry: entry('reboot-1', { key: 'storage/rook-ceph/other' }),
    then: [],
  },
  'what ceph-drain holds counts while a node there is cordoned': {
    entry: entry('ceph-drain/uid-1/a'),
    drained: drain('node-a'),
    then: ['ceph-drain/uid-1/a a'],
  },
  'what ceph-drain holds because it is hurt keeps no machine from being fenced': {
    entry: entry('ceph-drain/uid-1/a'),
    drained: drain('node-b'),
    then: [],
  },
  'what ceph-drain holds together counts while a node of either is cordoned': {
    entry: entry('ceph-drain/uid-1/a+b', { scope: 'a+b' }),
    drained: drain('node-b'),
    then: ['ceph-drain/uid-1/a+b a+b'],
  },
  'so many domains that their names do not fit count while any node is cordoned': {
    entry: entry('ceph-drain/uid-1/x', { scope: '90-domains-1f' }),
    drained: drain('node-b'),
    then: ['ceph-drain/uid-1/x 90-domains-1f'],
  },
  'what ceph-drain holds counts before anybody knows what is drained': {
    entry: entry('ceph-drain/uid-1/a'),
    then: ['ceph-drain/uid-1/a a'],
  },
  'what ceph-drain holds counts where no failure domain is known: a drain could pass for none': {
    entry: entry('ceph-drain/uid-1/a'),
    drained: { domains: [], closed: new Set() },
    then: ['ceph-drain/uid-1/a a'],
  },
}

describe('who keeps machines from being fenced', () => {
  it.each(Object.entries(cases))('%s', (_, { entry, drained, then }) => {
    const ledger = known({ ...emptyLedger, entries: [entry] })
    const { heldBy } = storageHolders(ledger, cluster, { drained })
    expect(heldBy?.known && heldBy.value.map(({ requestId, scope }) => `${requestId} ${scope || 'all'}`)).toEqual(then)
  })

  it('is told by its request where it has no name', () => {
    const ledger = known({ ...emptyLedger, entries: [entry('reboot-1', { holder: '' })] })
    expect(storageHolders(ledger, cluster, { drained: drain() }).heldBy).toEqual(
      known([{ holder: 'request reboot-1', requestId: 'reboot-1', scope: 'a' }]),
    )
  })

  it('is unknown with the ledger, and nobody where there is none', () => {
    const unread = unknown('it has not been read yet')
    expect(storageHolders(unread, cluster, { drained: drain() })).toEqual({ heldBy: unread, heldForFences: [] })
    expect(storageHolders(undefined, cluster, { drained: drain() })).toEqual({})
  })
})

describe('what is held for fences', () => {
  const entries = [entry('fencing/uid-1/a'), entry('fencing/uid-0/b', { scope: 'b' }), entry('reboot-1')]
  const ledger = known({ ...emptyLedger, entries })

  it('is what the ledger has for fences of this very cluster, so that one whose record is lost is not forgotten', () => {
    expect(storageHolders(ledger, cluster, { drained: drain() }).heldForFences).toEqual(['a'])
  })

  it('is not what was released a moment ago, or a fence that is over would come back as a forgotten one', () => {
    const isReleased = (requestId: string) => requestId === 'fencing/uid-1/a'
    expect(storageHolders(ledger, cluster, { drained: drain(), isReleased }).heldForFences).toEqual([])
  })
})
