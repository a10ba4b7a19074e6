import { emptyLedger, grant, intend, type Ledger } from '../../../../ledger/rules/ledger.ts'
import { arbiterOf, type StorageArbiter } from '../../../../ledger/rules/storage-arbiter.ts'
import { known, type Observed } from '../../../../shared/observed.ts'
import { now } from './fixture.ts'

/** The cluster of every story. */
export const cluster = { namespace: 'rook-ceph', name: 'my-cluster', uid: 'uid-1' }
export const key = 'storage/rook-ceph/my-cluster'

/** `reboot-a has zone-1`, `reboot-b waits for zone-2`, `ceph-drain has zone-1`; in this order. */
export function ledgerWith(...sentences: readonly string[]): Ledger {
  return sentences.reduce<Ledger>((ledger, sentence) => {
    const [, who = '', verb, scope = ''] = /^(\S+) (has|waits for) ?(\S*)$/.exec(sentence) ?? []
    const requestId = who === 'ceph-drain' ? `ceph-drain/${cluster.uid}/${scope}` : who
    const answer = grant(ledger, {
      requestId,
      holder: who === 'ceph-drain' ? 'ceph-drain of rook-ceph/my-cluster: earlier' : `nodedisruption/${who}`,
      claims: [{ key, uid: cluster.uid, scope }],
      now,
    })
    if (answer.granted !== (verb === 'has')) throw new Error(`it cannot be that ${sentence}`)
    if (!answer.granted) return answer.ledger
    const begun = intend(answer.ledger, { requestId, epoch: answer.epoch })
    return begun.ok ? begun.ledger : answer.ledger
  }, emptyLedger)
}

export function arbiterWith(...sentences: readonly string[]): Observed<StorageArbiter> {
  return known(arbiterOf(ledgerWith(...sentences), cluster))
}

/** The other way round: who holds what, and who waits. */
export function inSentences({ entries, tickets }: Ledger): string[] {
  const nameOf = (requestId: string) => requestId.split('/')[0] as string
  return [
    ...entries.map(({ requestId, scope, state, epoch }) => `${nameOf(requestId)} has ${scope}, ${state} at ${epoch}`),
    ...tickets.map(({ requestId, claims }) => `${nameOf(requestId)} waits for ${claims[0]?.scope ?? ''}`),
  ]
}
