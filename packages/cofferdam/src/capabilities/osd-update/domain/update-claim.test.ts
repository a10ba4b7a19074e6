import { expect, it } from 'vitest'
import { arbiter, entry, ours } from './testing/storage-entries.ts'
import { updateSnapshot } from './testing/update-fixture.ts'
import { wantedUpdateClaim, whoComesFirst } from './update-claim.ts'

const { cluster } = updateSnapshot()

it.each([
  [entry({}), 'the drain of node-a holds host-a of storage/rook-ceph/rook-ceph since 2026-11-15T08:00:00Z'],
  [entry({ scope: '', since: '' }), 'the drain of node-a holds all of storage/rook-ceph/rook-ceph'],
  [entry({ holder: '' }), 'request drain-1 holds host-a of storage/rook-ceph/rook-ceph since 2026-11-15T08:00:00Z'],
])('who holds the storage is named, so that an administrator finds it: %j', (held, then) => {
  expect(whoComesFirst({ cluster, arbiter: arbiter({ own: [held] }) })).toBe(then)
})

it('an update asks for nothing while others hold the storage, and keeps what it has', () => {
  const active = { isActive: true, isClean: true }
  const held = arbiter({ own: [entry({})] })
  const both = arbiter({ own: [entry({})], others: [ours] })
  expect([
    wantedUpdateClaim({ cluster, arbiter: held }, active),
    wantedUpdateClaim({ cluster, arbiter: both }, active)?.wants,
    wantedUpdateClaim({ cluster, arbiter: arbiter() }, active)?.wants,
  ]).toEqual([undefined, 'hold', 'hold'])
})
