import { configMaps, namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { openScenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { expect, it } from 'vitest'
import { decideOsdUpdate } from '../domain/decide.ts'
import type { OsdUpdateDecision } from '../domain/decision.ts'
import { recordWrite, type StoredUpdate, type UpdateChange } from '../domain/stored-update.ts'
import { updateSnapshot } from '../domain/testing/update-fixture.ts'
import { readUpdate, writeRecord } from './record.ts'

const cluster = { namespace: 'rook-ceph', name: 'rook-ceph', uid: 'uid-1' }
const { signal } = new AbortController()
const planned = decideOsdUpdate(updateSnapshot())
const { plan: _, ...unplanned } = planned
const ofNextGeneration = { ...unplanned, record: { ...unplanned.record, generation: 2 } }

async function writeUpdate(
  api: KubeApi,
  { stored }: { readonly stored: StoredUpdate },
  change: UpdateChange,
): Promise<StoredUpdate> {
  const write = recordWrite(stored, cluster, change)
  return write === undefined ? stored : writeRecord(api, write, { generation: change.record.generation, signal })
}

/** What the ConfigMap says of plan and obstacles after these decisions, one after the other. */
async function written(...decisions: readonly OsdUpdateDecision[]): Promise<(string | undefined)[]> {
  const { api, stop } = openScenario()
  await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: cluster.namespace } })
  for (const decision of decisions) {
    const stored = await readUpdate(api, { ...cluster, generation: decision.record.generation }, signal)
    await writeUpdate(api, { stored }, { record: decision.record, starts: new Map(), decision })
  }
  const { data } = await api.get(configMaps, { ...cluster, name: 'cofferdam-osd-update-rook-ceph' })
  stop()
  return [data?.['plan'], data?.['blocked']]
}

const many = (count: number) => Array.from({ length: count }, (_, osd) => osd)

it('the plan is on record for people to see', async () => {
  expect(await written(planned)).toEqual(['[[0,1],[2,3],[4,5]]', undefined])
})

it('what was planned last stays while OSDs are on their way and nothing is planned anew', async () => {
  expect(await written(planned, unplanned)).toEqual(['[[0,1],[2,3],[4,5]]', undefined])
})

it('what was planned last stays while nothing can go: the page would lose its picture between two rounds', async () => {
  expect(await written(planned, { ...planned, plan: [] })).toEqual(['[[0,1],[2,3],[4,5]]', undefined])
})

it('another generation of the cluster makes the old plan worthless, so it goes', async () => {
  expect(await written(planned, ofNextGeneration)).toEqual([undefined, undefined])
})

it('a plan too large for a ConfigMap is left out, and so is the one before it', async () => {
  const huge = { ...planned, plan: [many(60_000)] }
  expect(await written(planned, huge)).toEqual([undefined, undefined])
})

it('of those that cannot go the first fifty are named', async () => {
  const blocked = many(60).map((osd) => ({ osd, why: 'no copy can be spared', pg: '1.0' }))
  const [, text] = await written({ ...planned, blocked })
  expect(JSON.parse(text ?? '')).toEqual(many(50).map((osd) => ({ osd, why: 'no copy can be spared' })))
})

it('other words for who waits are not worth a write while OSDs are on their way, and are when none is', async () => {
  const blockedBy = (why: string) => [{ osd: 4, why }]
  const away = { ...planned, progress: { ...planned.progress, running: [0] } }
  const idle = { ...planned, progress: { ...planned.progress, running: [] } }
  const after = async (decision: OsdUpdateDecision) => {
    const [, text] = await written(
      { ...decision, blocked: blockedBy('once') },
      { ...decision, blocked: blockedBy('anew') },
    )
    return JSON.parse(text ?? '')
  }
  expect([await after(away), await after(idle)]).toEqual([blockedBy('once'), blockedBy('anew')])
})

it('a record that somebody filled with notes of his own is written all the same, or an OSD that is stopped would be forgotten', async () => {
  const { api, stop } = openScenario()
  await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: cluster.namespace } })
  const read = () => readUpdate(api, { ...cluster, generation: planned.record.generation }, signal)
  const write = async (starts: Map<number, { atMs: number; epoch: number }>) => {
    const stored = await read()
    return writeUpdate(api, { stored }, { record: planned.record, starts, decision: planned })
  }
  const { configMap } = await write(new Map())
  if (configMap === undefined) throw new Error('nothing was written')
  const { reason, explanation } = planned
  const used = `cofferdam.io/reason${reason}cofferdam.io/explanation${explanation}example.com/fill`.length
  const annotations = { ...configMap.metadata.annotations, 'example.com/fill': 'x'.repeat(262_144 - used) }
  await api.update(configMaps, { ...configMap, metadata: { ...configMap.metadata, annotations } })
  const longer = { ...planned, explanation: `${explanation} And more.` }
  const stored = await read()
  const starts = new Map([[3, { atMs: 1_000, epoch: 7 }]])
  await writeUpdate(api, { stored }, { record: planned.record, starts, decision: longer })
  expect((await read()).starts).toEqual(starts)
  stop()
})

/** What the ConfigMap goes with after these notes of OSDs that are stopped, one write after the other. */
async function ownersAfter(...notes: readonly Map<number, { atMs: number; epoch: number }>[]) {
  const { api, stop } = openScenario()
  await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: cluster.namespace } })
  const record = { ...planned.record, noout: [] }
  for (const starts of notes) {
    const stored = await readUpdate(api, { ...cluster, generation: record.generation }, signal)
    await writeUpdate(api, { stored }, { record, starts, decision: planned })
  }
  const { metadata } = await api.get(configMaps, { ...cluster, name: 'cofferdam-osd-update-rook-ceph' })
  stop()
  return metadata.ownerReferences?.map(({ kind, uid }) => `${kind} ${uid}`)
}

it('a record goes with its cluster: left behind, the next cluster of that name would read it as its own', async () => {
  expect(await ownersAfter(new Map())).toEqual(['CephCluster uid-1'])
})

it('while an OSD is stopped the record outlives the object of its cluster, which may be put back', async () => {
  const stopped = new Map([[3, { atMs: 1_000, epoch: 7 }]])
  expect(await ownersAfter(new Map(), stopped)).toBeUndefined()
  expect(await ownersAfter(stopped, new Map())).toEqual(['CephCluster uid-1'])
})

it('a record in which others keep data is not taken from them with the cluster', async () => {
  const { api, stop } = openScenario()
  await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: cluster.namespace } })
  const record = { ...planned.record, noout: [] }
  const key = { ...cluster, generation: record.generation }
  const write = async (decision: OsdUpdateDecision) => {
    const stored = await readUpdate(api, key, signal)
    return writeUpdate(api, { stored }, { record, starts: new Map(), decision })
  }
  const { configMap } = await write(planned)
  if (configMap === undefined) throw new Error('nothing was written')
  await api.update(configMaps, { ...configMap, binaryData: { theirs: 'AAAA' } })
  const { configMap: after } = await write({ ...planned, reason: 'OsdsUpToDate' })
  expect([after?.metadata.ownerReferences, after?.binaryData]).toEqual([undefined, { theirs: 'AAAA' }])
  stop()
})
