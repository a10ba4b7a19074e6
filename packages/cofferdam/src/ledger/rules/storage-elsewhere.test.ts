import { describe, expect, it } from 'vitest'
import { emptyLedger, grant, intend, type Ledger, orphan } from './ledger.ts'
import { scopeOf } from './storage-arbiter.ts'
import { heldElsewhere } from './storage-elsewhere.ts'
import { isUpdateRequest, updateRequestId } from './update-request.ts'

const now = '2026-01-01T00:00:00Z'

function holding(key: string, scope: string): Ledger {
  const claims = [{ key, uid: 'u', scope }]
  const { ledger } = grant(emptyLedger, { requestId: 'R1', holder: 'reboot-a', claims, now })
  const begun = intend(ledger, { requestId: 'R1', epoch: 1 })
  if (!begun.ok) throw new Error(begun.why)
  return begun.ledger
}

const asked = (ledger: Ledger, ...failureDomains: string[]) =>
  heldElsewhere(ledger, { namespace: 'rook', failureDomains })?.holder

const many = scopeOf(Array.from({ length: 40 }, (_, at) => `zone-${at}`))

const cases: Readonly<Record<string, readonly [Ledger, readonly string[], string | undefined]>> = {
  'an OSD of a second failure domain waits for who holds the first': [
    holding('storage/rook/ceph', 'zone-a'),
    ['zone-b'],
    'reboot-a',
  ],
  'an OSD of the domain that is held goes with it': [holding('storage/rook/ceph', 'zone-a'), ['zone-a'], undefined],
  'an OSD of one of several domains that are held goes with them': [
    holding('storage/rook/ceph', 'zone-a+zone-b'),
    ['zone-c', 'zone-b'],
    undefined,
  ],
  'where no domain of the OSD is known the budgets decide alone': [
    holding('storage/rook/ceph', 'zone-a'),
    [],
    undefined,
  ],
  'who holds the whole storage names no domain': [holding('storage/rook/ceph', ''), ['zone-b'], undefined],
  'so many domains that they are written as a number name none': [
    holding('storage/rook/ceph', many),
    ['zone-b'],
    undefined,
  ],
  'the storage of another namespace is none of its business': [
    holding('storage/other/ceph', 'zone-a'),
    ['zone-b'],
    undefined,
  ],
  'a budget with such a name is no storage': [holding('pdb/storage/rook/', 'zone-a'), ['zone-b'], undefined],
  'a holder that is gone keeps no OSD waiting': [
    orphan(holding('storage/rook/ceph', 'zone-a'), 'R1'),
    ['zone-b'],
    undefined,
  ],
  'a ledger in which nothing is held keeps no OSD waiting': [emptyLedger, ['zone-b'], undefined],
}

describe('a second failure domain', () => {
  it.each(Object.entries(cases))('%s', (_, [ledger, domains, holder]) => {
    expect(asked(ledger, ...domains)).toBe(holder)
  })
})

it('the update of a cluster is told from requests for nodes: it has no node that could come back', () => {
  expect([updateRequestId({ uid: 'c1' }), 'nodedisruption-uid', 'c1/osd-update/'].map(isUpdateRequest)).toEqual([
    true,
    false,
    false,
  ])
})
