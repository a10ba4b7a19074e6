import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import { decideOsdUpdate } from './decide.ts'
import { isLaterToCome, isWrittenForLater, recordWrite, storedOf } from './stored-update.ts'
import { updateSnapshot } from './testing/update-fixture.ts'
import { formatUpdateRecord, freshRecord } from './update-record.ts'

const configMap = (data: Record<string, string>): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'rook-ceph', name: 'cofferdam-osd-update-rook-ceph', uid: 'u' },
  data: { ...formatUpdateRecord(freshRecord(1)), ...data },
})

describe('what is remembered of OSDs that were stopped', () => {
  it('comes back as it was written', () => {
    expect([...storedOf(configMap({ starts: '{"4":[1000,12]}' }), 1).starts]).toEqual([[4, { atMs: 1_000, epoch: 12 }]])
  })

  it.each(['{', '[]', '{"4":7}', '{"four":[1,2]}', '{"4":["now",2]}', '{"4":[1,-2]}'])(
    'is not believed in part: with %s nothing starts, for an OSD that is away could be taken for running',
    (starts) => {
      const { problem, starts: kept } = storedOf(configMap({ starts }), 1)
      expect([problem, kept.size]).toEqual(['its key starts is invalid', 0])
    },
  )

  it('is a problem where the ConfigMap has no data: somebody has emptied it', () => {
    const { data: _, ...empty } = configMap({})
    expect(storedOf(empty, 1).problem).toBe('it has no key record')
  })
})

describe('the write of what is to be remembered', () => {
  const { cluster } = updateSnapshot()
  const decision = decideOsdUpdate(updateSnapshot())
  const change = { record: freshRecord(1), starts: new Map(), decision }

  it('says for which CephCluster it was: by an older one an update would be turned back, and one made anew begins anew', () => {
    const write = recordWrite(storedOf(undefined, 1), { ...cluster, objectGeneration: 2 }, change)
    const { record } = storedOf(write?.configMap, 1)
    const { uid } = cluster
    const generations = [{ uid, generation: 1 }, { uid, generation: 2 }, { uid: 'another', generation: 1 }, { uid }]
    expect(generations.map((each) => isWrittenForLater(record, each))).toEqual([true, false, false, true])
  })

  it('is believed over the CephCluster for three minutes: what outlived a restored etcd would stop every update for ever', () => {
    expect([0, 179_999, 180_000].map(isLaterToCome)).toEqual([true, true, false])
  })

  it('is left out where all is said already', () => {
    const first = recordWrite(storedOf(undefined, 1), cluster, change)
    expect(first?.verb).toBe('create')
    expect(recordWrite(storedOf(first?.configMap, 1), cluster, change)).toBeUndefined()
  })

  it('never goes over what cannot be read: it may say what froze the update', () => {
    expect(recordWrite(storedOf(configMap({ starts: '{' }), 1), cluster, change)).toBeUndefined()
  })

  it('fills a ConfigMap that lost its data after it was read', () => {
    const first = recordWrite(storedOf(undefined, 1), cluster, change)?.configMap as ConfigMap
    const { data: _, ...emptied } = first
    const stored = { ...storedOf(first, 1), configMap: emptied }
    expect(recordWrite(stored, cluster, change)).toMatchObject({ verb: 'update', configMap: { data: first.data } })
  })
})
