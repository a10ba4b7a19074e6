import { expect, it } from 'vitest'
import { unknown } from '../../../shared/observed.ts'
import { storageBlockers } from './claims.ts'
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
