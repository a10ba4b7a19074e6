import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import { decideGrowthPass, type GrowthPassSnapshot, type HeardInGrowth } from './decide-growth-pass.ts'
import { type GrowthObjects, growthSnapshotOf } from './growth-snapshot.ts'
import type { GrowthStep } from './growth-steps.ts'
import { growingCluster, node, osdOf, prepareJob, prepareResult, rookImage, uuidOf } from './testing/growth-objects.ts'

const ceph = known(new Map([1, 2, 3, 4].map((id) => [id, uuidOf(id)])))
const done = { result: 'made' as const }

interface Given extends Partial<GrowthObjects> {
  readonly heard?: HeardInGrowth
  readonly isVoid?: boolean
}

/** Nodes a and b; Ceph was asked. */
function passOf({ heard = {}, isVoid = false, ...given }: Given): GrowthPassSnapshot {
  const cluster = growingCluster()
  const objects = { cluster, nodes: [node('a'), node('b')], jobs: [], configMaps: [], deployments: [], ceph, ...given }
  const byName = <T extends { readonly metadata: { readonly name: string } }>(list: readonly T[]) =>
    new Map(list.map((one) => [one.metadata.name, one]))
  return {
    cluster,
    rookImage,
    observed: {
      snapshot: growthSnapshotOf(objects),
      nodes: objects.nodes,
      jobs: byName(objects.jobs),
      statuses: byName(objects.configMaps),
    },
    isVoid,
    heard,
  }
}

/** `osds 1 2`, `used a: osd.1 was refused: no`, `prepares a`, `removals rook-ceph-osd-prepare-a` */
function told(step: GrowthStep): string {
  if (step.do === 'ask') return `ask ${step.ask}`
  if (step.do === 'report') return 'report'
  switch (step.write) {
    case 'osds':
      return `osds ${step.osds.map(({ osd, place }) => `${osd}@${place}`).join(' ')}`
    case 'used':
      return `used ${step.used.map(({ status, trouble }) => `${status.metadata.name}: ${trouble}`).join(', ')}`
    case 'prepares':
      return `prepares ${step.prepares.map(({ place, previous }) => `${place.name}${previous ? ' again' : ''}`).join(' ')}`
    case 'removals':
      return `removals ${[...step.jobs, ...step.statuses].map(({ metadata }) => metadata.name).join(' ')}`
  }
}
const steps = (given: Given) => decideGrowthPass(passOf(given)).steps.map(told)

/** The disk of node a is prepared as osd.1 and osd.2; b is used up. */
const ready: Given = {
  jobs: [prepareJob('a')],
  configMaps: [
    prepareResult('a', [1, 2]),
    { ...prepareResult('b', []), metadata: { ...usedUp('b'), namespace: 'rook-ceph' } },
  ],
}
function usedUp(place: string) {
  const { metadata } = prepareResult(place, [])
  return { ...metadata, annotations: { ...metadata.annotations, 'cofferdam.io/result-used': 'true' } }
}
const made = (...results: readonly (readonly [number, 'made' | 'passed' | 'refused' | 'unsure'])[]): HeardInGrowth => ({
  made: results.map(([osd, result]) => ({
    osd,
    place: 'a',
    outcome:
      result === 'refused'
        ? { result, why: 'no quota' }
        : result === 'unsure'
          ? { result, error: new Error('no answer') }
          : { result },
  })),
})

const table: Record<string, { readonly given: Given; readonly steps: readonly string[] }> = {
  'a result waits: Ceph is asked which OSDs it knows before a privileged pod comes of it': {
    given: { ...ready, ceph: unknown('not asked') },
    steps: ['ask uuids'],
  },
  'Ceph was asked and does not answer: nothing is made of the result': {
    given: { ...ready, ceph: unknown('no answer'), heard: { hasUuids: true } },
    steps: ['report'],
  },
  'OSDs are made first: the result of them is used up only after': { given: ready, steps: ['osds 1@a 2@a'] },
  'the cluster changed meanwhile: what was decided for the old one is not written': {
    given: { ...ready, isVoid: true },
    steps: ['report'],
  },
  'all are made or there already: the result is used up': {
    given: { ...ready, heard: made([1, 'made'], [2, 'passed']) },
    steps: ['used rook-ceph-osd-a-status: '],
  },
  'one was refused: the result is used up and says which, so that it is not tried for ever': {
    given: { ...ready, heard: made([1, 'made'], [2, 'refused']) },
    steps: ['used rook-ceph-osd-a-status: osd.2 was refused: no quota'],
  },
  'of one it is not known whether it was made: the result is kept, for its disk would be lost with it': {
    given: { ...ready, heard: made([1, 'made'], [2, 'unsure']) },
    steps: ['report'],
  },
  'one was not tried, for the cluster changed in between: the result is kept': {
    given: { ...ready, heard: made([1, 'made']) },
    steps: ['report'],
  },
  'a result without new OSDs is used up, and nothing is made': {
    given: { ...ready, deployments: [osdOf(1, 'a'), osdOf(2, 'a')] },
    steps: ['used rook-ceph-osd-a-status: '],
  },
  'a result that cannot be read keeps no other from being used up': {
    given: { ...ready, configMaps: [prepareResult('a', []), prepareResult('b', [], { status: 'odd' })] },
    steps: ['used rook-ceph-osd-a-status: '],
  },
  'the mark was tried: it is not written twice in a pass': {
    given: { ...ready, heard: { ...made([1, 'made'], [2, 'made']), marked: [done] } },
    steps: ['report'],
  },
  'a place that was never inspected gets its Job, and one of before is written over': {
    given: { configMaps: [prepareResult('b', [], { asked: '1' })] },
    steps: ['prepares a b again'],
  },
  'Jobs were started: they are not started twice in a pass': {
    given: { heard: { begun: [{ place: 'a', outcome: done }] } },
    steps: ['report'],
  },
  'what a place that is gone has left is removed with its Job': {
    given: {
      nodes: [],
      jobs: [prepareJob('a', { asked: '1' })],
      configMaps: [prepareResult('a', [], { asked: '1' })],
    },
    steps: ['removals rook-ceph-osd-prepare-a rook-ceph-osd-a-status'],
  },
  'a Job that is being deleted is left to end': {
    given: { nodes: [], jobs: [leaving()] },
    steps: ['report'],
  },
  'it was swept: nothing is removed twice in a pass': {
    given: { nodes: [], jobs: [prepareJob('a', { asked: '1' })], heard: { swept: [done] } },
    steps: ['report'],
  },
}
function leaving() {
  const job = prepareJob('a', { asked: '1' })
  return { ...job, metadata: { ...job.metadata, deletionTimestamp: '2026-11-15T08:00:00Z' } }
}

describe('what a pass over the growth of a cluster does next', () => {
  it.each(Object.entries(table))('%s', (_, { given, steps: then }) => {
    expect(steps(given)).toEqual(then)
  })

  it('Ceph that does not answer is asked again by itself, for no event says when it does', () => {
    const silent = decideGrowthPass(passOf({ ...ready, ceph: unknown('no answer'), heard: { hasUuids: true } }))
    expect([silent.recheckAfterSeconds, decideGrowthPass(passOf(ready)).recheckAfterSeconds]).toEqual([10, undefined])
  })

  it('an OSD on a volume claim gets the set of its claim', () => {
    const base = growingCluster()
    const storageClassDeviceSets = [{ name: 'set1', count: 1, portable: true, volumeClaimTemplates: [{ spec: {} }] }]
    const cluster = { ...base, spec: { ...base.spec, storage: { storageClassDeviceSets } } }
    const result = prepareResult('set1-data-0', [])
    const text = JSON.stringify({ status: 'completed', 'pvc-backed-osd': true, osds: [{ id: 3, uuid: uuidOf(3) }] })
    const given = {
      cluster,
      nodes: [],
      jobs: [prepareJob('set1-data-0')],
      configMaps: [{ ...result, data: { status: text } }],
    }
    const [step] = decideGrowthPass({ ...passOf(given), cluster }).steps
    expect(step).toMatchObject({
      osds: [
        { osd: 3, place: 'set1-data-0', deployment: { metadata: { labels: { 'ceph.rook.io/DeviceSet': 'set1' } } } },
      ],
    })
  })

  it('reports what was made, and not what was there or refused; the trouble of the pass is what was left in doubt', () => {
    const error = new Error('no answer')
    const heard: HeardInGrowth = {
      ...made([1, 'made'], [2, 'refused']),
      marked: [done],
      begun: [
        { place: 'a', outcome: done },
        { place: 'b', outcome: { result: 'passed' } },
      ],
      swept: [{ result: 'unsure', error }],
    }
    const configMaps = [prepareResult('a', [1, 2]), prepareResult('b', [], { status: 'failed' })]
    const { steps: last, trouble } = decideGrowthPass(passOf({ jobs: [prepareJob('a')], configMaps, heard }))
    expect([last, trouble]).toEqual([
      [
        {
          do: 'report',
          report: {
            added: [{ id: 1, place: 'a' }],
            prepared: ['a'],
            errors: [{ place: 'b', why: 'its prepare Job says that it failed', asked: '2' }],
            awaited: 0,
            unusable: 0,
          },
        },
      ],
      error,
    ])
  })
})
