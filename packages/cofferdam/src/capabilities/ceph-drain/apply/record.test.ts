import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { configMaps, namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import { openScenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { describe, expect, it } from 'vitest'
import { calmState } from '../domain/state-map.ts'
import { type CephFixture, openCephFixture } from '../testing/ceph-fixture.ts'
import { readRecord, writeRecord } from './record.ts'

async function notesOf(fixture: CephFixture): Promise<{ type: string | undefined; domains: unknown }> {
  const { annotations = {} } = (await fixture.record()).metadata
  const text = annotations['cofferdam.io/domains']
  return {
    type: annotations['cofferdam.io/failure-domain-type'],
    domains: text === undefined ? undefined : JSON.parse(text),
  }
}

describe('what is on record about each failure domain', () => {
  it('follows a drain: who may go, who waits, and for whom; and no record once the cluster is handed back', async () => {
    const fixture = await openCephFixture()
    fixture.operate()
    await fixture.seconds(90)
    const answer = (zone: string, osds: number[], mayDrain: boolean, reason: string, explanation: string) => ({
      domain: zone,
      osds,
      nodes: [`node-${zone}`],
      mayDrain,
      reason,
      explanation,
    })
    const safe = (zone: string, osds: number[]) =>
      answer(zone, osds, true, 'SafeToDrain', `zone ${zone} may be drained now.`)
    expect(await notesOf(fixture)).toEqual({
      type: 'zone',
      domains: { total: 3, held: 0, answers: [safe('x', [0, 1]), safe('y', [2, 3]), safe('z', [4, 5])] },
    })

    await fixture.cordon('node-x')
    await fixture.evictOsd(0)
    await fixture.seconds(30)
    const waits = (zone: string, osds: number[]) =>
      answer(zone, osds, false, 'OtherDomainDown', `zone ${zone} waits until x is back and all data is clean.`)
    expect(await notesOf(fixture)).toEqual({
      type: 'zone',
      domains: {
        total: 3,
        held: 2,
        answers: [
          answer(
            'x',
            [0, 1],
            true,
            'DomainReleased',
            'zone x may be drained: it is the failure domain that is allowed to be down.',
          ),
          waits('y', [2, 3]),
          waits('z', [4, 5]),
        ],
      },
    })

    await fixture.patchCluster({ spec: { disruptionManagement: { managePodBudgets: false } } })
    await fixture.seconds(10)
    await expect(fixture.record()).rejects.toMatchObject({ reason: 'NotFound' })
    await fixture.close()
  })
})

describe('a record whose CephCluster is deleted', () => {
  const deleted = async (fixture: CephFixture) => {
    await fixture.api.delete(cephClusters, { namespace: 'rook-ceph', name: 'rook-ceph' })
    await fixture.seconds(60)
  }

  it('goes with it: nothing of a cluster that is gone is left for the next one of its name to read', async () => {
    const fixture = await openCephFixture()
    fixture.operate()
    await fixture.seconds(90)
    await deleted(fixture)
    await expect(fixture.record()).rejects.toMatchObject({ reason: 'NotFound' })
    await fixture.close()
  })

  it('stays while it remembers noout: the object may be put back, and the flag would stay set for ever', async () => {
    const fixture = await openCephFixture()
    fixture.operate()
    await fixture.seconds(90)
    await fixture.cordon('node-x')
    await fixture.evictOsd(0)
    await fixture.seconds(30)
    await deleted(fixture)
    expect((await fixture.record()).data?.['cofferdam.io_own-noout']).not.toBe('')
    await fixture.close()
  })
})

describe('a record with more to say than an object may hold', () => {
  const { signal } = new AbortController()
  const place = { namespace: 'rook-ceph', name: 'rook-ceph-pdbstatemap' }
  const problems = Array.from({ length: 2_911 }, (_, id) => ({
    object: `deployment/rook-ceph-osd-${id}`,
    problem: 'has no label topology-location-zone; it is held whenever any failure domain is open',
  }))
  const change = {
    state: calmState,
    decision: {
      reason: 'AnyOsdMayGo' as const,
      explanation: 'osd.1, '.repeat(60_000),
      failureDomainType: 'zone',
      domains: [],
      problems,
    },
    silentSince: undefined,
    now: '2026-01-01T00:00:00Z',
    owner: { name: 'rook-ceph', uid: '' },
  }

  it('is taken by the API server, or 2,911 OSDs without a zone label would be left without budgets', async () => {
    const { api, stop } = openScenario()
    await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: place.namespace } })
    const first = await writeRecord(api, await readRecord(api, place, signal), change, signal)
    const filled = { ...first.configMap?.metadata.annotations, 'example.com/fill': 'x'.repeat(200_000) }
    const { configMap } = first
    if (configMap === undefined) throw new Error('nothing was written')
    await api.update(configMaps, {
      ...configMap,
      metadata: { ...configMap.metadata, annotations: filled },
      binaryData: { 'set-no-out': 'AAAA' },
    })
    const state = { ...calmState, openDomains: ['x'], wantsNoout: true }
    const second = await writeRecord(api, await readRecord(api, place, signal), { ...change, state }, signal)
    expect(second.state.openDomains).toEqual(['x'])
    expect(second.configMap?.metadata.annotations?.['example.com/fill']).toBeUndefined()
    expect(second.configMap?.metadata.annotations?.['cofferdam.io/problems']).toMatch(
      /; 2891 more objects with problems$/,
    )
    stop()
  })

  it('keeps keys of others through a drain: a team lost its notes there, and a backup tool its mark', async () => {
    const { api, stop } = openScenario()
    await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: place.namespace } })
    await api.create(configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: place,
      data: { 'team-note': 'ask storage first', 'zone-z-noout-last-set-at': '2026-01-01T10:00:00Z' },
    })
    const state = { ...calmState, openDomains: ['x'] }
    const first = await writeRecord(api, await readRecord(api, place, signal), { ...change, state }, signal)
    const second = await writeRecord(api, first, change, signal)
    for (const { configMap } of [first, second]) {
      expect(configMap?.data).toMatchObject({ 'team-note': 'ask storage first' })
      expect(configMap?.data).not.toHaveProperty('zone-z-noout-last-set-at')
    }
    stop()
  })

  it('keys of others that fill the object go: else the state of a drain could not be stored', async () => {
    const { api, stop } = openScenario()
    await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: place.namespace } })
    const data = { fill: 'x'.repeat(900_000), note: 'small' }
    await api.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: place, data })
    const { configMap } = await writeRecord(api, await readRecord(api, place, signal), change, signal)
    expect(configMap?.data).toMatchObject({ note: 'small' })
    expect(configMap?.data).not.toHaveProperty('fill')
    stop()
  })

  it('of an operator that was suspended is not written over that of its successor: the zone that is open would be forgotten', async () => {
    const { api, stop } = openScenario()
    await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: place.namespace } })
    const opening = (zone: string) => ({ ...change, state: { ...calmState, openDomains: [zone] } })
    const stale = await writeRecord(api, await readRecord(api, place, signal), change, signal)
    await writeRecord(api, stale, opening('x'), signal)
    await expect(writeRecord(api, stale, opening('y'), signal)).rejects.toMatchObject({ reason: 'Conflict' })
    expect((await readRecord(api, place, signal)).state.openDomains).toEqual(['x'])
    stop()
  })

  it('is not begun where its data is immutable: what follows could not be remembered', async () => {
    const { api, stop } = openScenario()
    const record = await readRecord(api, place, signal)
    const locked = { ...record, configMap: { apiVersion: 'v1', kind: 'ConfigMap', metadata: place, immutable: true } }
    await expect(writeRecord(api, locked, change, signal)).rejects.toThrow(/is immutable/)
    stop()
  })
})
