import type { LedgerEntry } from '../../../../ledger/rules/ledger.ts'
import type { StorageArbiter } from '../../../../ledger/rules/storage-arbiter.ts'
import { updateRequestId } from '../../../../ledger/rules/update-request.ts'
import { known } from '../../../../shared/observed.ts'

/** What the ledger says of the storage of the fixture. */
export const entry = (given: Partial<LedgerEntry>): LedgerEntry => ({
  key: 'storage/rook-ceph/rook-ceph',
  uid: 'uid-1',
  scope: 'host-a',
  holder: 'the drain of node-a',
  requestId: 'drain-1',
  epoch: 1,
  state: 'Acting',
  since: '2026-11-15T08:00:00Z',
  renewSequence: 0,
  ...given,
})
export const arbiter = (given: Partial<StorageArbiter> = {}) =>
  known<StorageArbiter>({ key: 'storage/rook-ceph/rook-ceph', own: [], others: [], tickets: [], ...given })
export const ours = entry({
  scope: '',
  requestId: updateRequestId({ uid: 'uid-1' }),
  holder: 'osd-update of rook-ceph/rook-ceph',
})
