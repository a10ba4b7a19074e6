import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { describe, expect, it } from 'vitest'
import { unknown } from '../../../shared/observed.ts'
import type { UpdateClaim } from '../domain/hold-for-update.ts'
import { UpdatePerformer } from './perform.ts'

type Given = ConstructorParameters<typeof UpdatePerformer>

function performerOf({ api = {}, hold = {} }: { readonly api?: object; readonly hold?: object }) {
  const heard: object[] = []
  const { signal } = new AbortController()
  const pass = {
    cluster: { metadata: { namespace: 'rook-ceph', name: 'my-cluster' } },
    heard: {},
    last: { observed: { snapshot: { cluster: { uid: 'uid-1' } } }, answers: {} },
    hear: (what: object) => heard.push(what),
  }
  const performer = new UpdatePerformer({ api } as Given[0], { memory: { hold }, pass } as unknown as Given[1], {
    signal,
    asking: signal,
  })
  return { performer, heard }
}

describe('a step of an update of OSDs', () => {
  it('for which the ledger refuses the storage is decided again: OSDs would restart beside a drain of another zone', async () => {
    const acquire = async () => ({ outcome: 'refused', ledger: unknown('a drain holds it') })
    const { performer, heard } = performerOf({ hold: { acquire, observe: () => ({}) } })
    const claim = { wants: 'hold' } as UpdateClaim
    expect(await performer.hold({ do: 'hold', hold: 'acquire', claim, attempt: 1 })).toBe('learned')
    expect(heard).toEqual([{ hold: { isAcquired: false, refusals: 1 } }])
  })

  it('that could not label an OSD ends the pass: Rook would restart it together with the batch of another host', async () => {
    const patch = () => Promise.reject(new ApiError('Invalid', 'labels are locked'))
    const { performer } = performerOf({ api: { patch } })
    const change = {
      osd: 3,
      namespace: 'rook-ceph',
      name: 'rook-ceph-osd-3',
      version: '8',
      change: 'hold' as const,
    }
    const step = performer.write({ do: 'write', write: 'labels', changes: [change], isFirst: false })
    await expect(step).rejects.toThrow('osd.3 cannot be labelled: the API server refused it: labels are locked')
  })
})
