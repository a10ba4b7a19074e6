import { describe, expect, it } from 'vitest'
import { unknown } from '../../../shared/observed.ts'
import { obstacleBlocker, storageBlockers } from './claims.ts'
import type { DisruptionView } from './disruption-view.ts'

it.each(['Ceph is silent', 'Whether zone a may go is not known: 1 placement group has not reported since.'])(
  'what is not known of storage is told with one full stop, also where it is a sentence: %s',
  (why) => {
    const storage = [
      { key: 'storage/rook-ceph/main', uid: 'u', failureDomain: 'a', mayGo: unknown(why), isClean: unknown(why) },
    ]
    const view = { snapshot: { storage }, request: { createdMs: 0 } } as unknown as DisruptionView
    expect(storageBlockers(view).map(({ wayOut }) => wayOut)).toEqual([`Not known yet: ${why.replace(/\.$/, '')}.`])
  },
)

describe('whoever is in the way', () => {
  const view = {
    snapshot: { storage: [{ key: 'storage/longhorn/main', takesCopies: true }] },
    request: { createdMs: 0, nodeName: 'node-a' },
    record: {},
  } as unknown as DisruptionView
  const obstacle = (more: object) =>
    obstacleBlocker(view, {
      key: 'node/node-b',
      requestId: 'R2',
      holder: 'them',
      since: 's',
      state: 'Acting',
      ...more,
    } as never)

  it('is told by its request where it has no name, and since we wait where nobody wrote since when', () => {
    expect(obstacle({ holder: '', since: '' })).toMatchObject({
      holder: 'request R2',
      since: '1970-01-01T00:00:00Z',
      reason: 'HeldByRequest',
    })
  })

  it('is waited for by a node that takes its copies, with that reason: it would be drained while they come', () => {
    expect(obstacle({ key: 'storage/longhorn/main' })).toMatchObject({ reason: 'NodeTakesCopies' })
    expect(obstacle({ key: 'storage/longhorn/main', state: 'Waiting' })).toMatchObject({ reason: 'EarlierRequest' })
  })
})
