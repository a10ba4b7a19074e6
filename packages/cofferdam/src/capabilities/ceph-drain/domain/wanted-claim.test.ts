import { expect, it } from 'vitest'
import { emptyLedger, grant } from '../../../ledger/rules/ledger.ts'
import { arbiterOf } from '../../../ledger/rules/storage-arbiter.ts'
import { known } from '../../../shared/observed.ts'
import { presentHolds } from './present-holds.ts'
import { now } from './testing/fixture.ts'
import { cluster, key } from './testing/small-ledger.ts'
import { wantedClaim } from './wanted-claim.ts'

const layout = {
  osds: [{ id: 0, nodeName: 'node-1', domain: 'zone-a' }],
  domains: [{ name: 'zone-a', drainedNodes: ['node-1'] }],
  missing: [],
  type: 'zone',
} as unknown as Parameters<typeof wantedClaim>[1]

function claimBeside(scope: string) {
  const claims = [
    { key: 'node/node-1', uid: 'node-1', scope: '' },
    { key, uid: cluster.uid, scope },
  ]
  const answer = grant(emptyLedger, { requestId: 'reboot-1', holder: 'reboot-1', claims, now })
  if (!answer.granted) throw new Error('it is free')
  const holds = presentHolds(known(arbiterOf(answer.ledger, cluster)), layout)
  return wantedClaim({ ...holds, cluster: cluster as Parameters<typeof wantedClaim>[0]['cluster'] }, layout, {
    chosen: ['zone-a'],
  })
}

it('a domain that is let go is held beside the request that drains its node', () => {
  expect(claimBeside('zone-a')).toMatchObject({ wants: 'hold', claim: { key, scope: 'zone-a' } })
})

it('where a request holds all of the storage nothing is asked for: the ledger would refuse it with every pass', () => {
  expect(claimBeside('')).toBeUndefined()
})
