import { describe, expect, it } from 'vitest'
import { currentPace, isTouched, isWalkDue, paceKey } from './pace-osds.ts'
import { formatPace, isPace, type PaceState, parsePace } from './pace-state.ts'
import { parseRookPass, type RookPass } from './rook-pass.ts'
import type { OsdPace, UpdatableOsd } from './snapshot.ts'
import { freshRecord } from './update-record.ts'

const own: OsdPace = { hold: 'none', isExempt: false, isImageWanted: true, generation: 4 }
const osd = (id: number, pace: Partial<OsdPace> = {}, facts: Partial<UpdatableOsd> = {}): UpdatableOsd => {
  const plain = { id, deployment: `rook-ceph-osd-${id}`, needsUpdate: false, isPodReady: true, hasStalled: false }
  return { ...plain, pace: { ...own, ...pace }, ...facts }
}
const state: PaceState = { key: 'a', pending: [], open: [], rounds: 3 }
const resting: RookPass = { state: 'resting', isUpToDate: true, asked: undefined }
const cluster = (facts: object = {}) => ({
  apiVersion: 'ceph.rook.io/v1',
  kind: 'CephCluster',
  metadata: { namespace: 'rook-ceph', name: 'rook-ceph', generation: 7 },
  ...facts,
})
const overrides = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'rook-config-override' }, data: {} }

describe('which OSDs no pass of Rook has been open to', () => {
  const first: Record<string, { readonly rook: RookPass; readonly osds?: UpdatableOsd[]; readonly pending: number[] }> =
    {
      'none the first time, where Rook has finished with the CephCluster': { rook: resting, pending: [] },
      'all, where Rook is in the middle of something: it may leave OSDs behind that are held from now on': {
        rook: { ...resting, state: 'passing' },
        pending: [0, 1],
      },
      'all, where Rook has not seen the last change yet': { rook: { ...resting, isUpToDate: false }, pending: [0, 1] },
      'all, where the last pass of Rook failed': { rook: { ...resting, failure: 'no quorum' }, pending: [0, 1] },
      'all, where OSDs are held already and the record is lost: what Rook skipped meanwhile is not known': {
        rook: resting,
        osds: [osd(0, { hold: 'ours' }), osd(1)],
        pending: [0, 1],
      },
    }
  it.each(Object.entries(first))('%s', (_, { rook, osds = [osd(0), osd(1)], pending }) => {
    expect(currentPace(undefined, { key: 'a', osds, rook })?.pending).toEqual(pending)
  })

  it('is not known before Rook was heard', () => {
    expect(currentPace(undefined, { key: 'a', osds: [osd(0)], rook: undefined })).toBeUndefined()
  })

  it('all after a change, and what is open has to be touched once more, for it may have got what was wanted before', () => {
    const before = { ...state, open: [{ osd: 1, atMs: 5, generation: 3 }], pass: { atMs: 6 } }
    expect(currentPace(before, { key: 'b', osds: [osd(0), osd(1)], rook: resting })).toEqual({
      key: 'b',
      pending: [0, 1],
      open: [{ osd: 1, atMs: 5, generation: 4 }],
      rounds: 0,
    })
  })

  it('an open OSD whose Deployment is gone keeps the generation that it was opened with', () => {
    const before = { ...state, open: [{ osd: 9, atMs: 5, generation: 3 }] }
    expect(currentPace(before, { key: 'b', osds: [osd(0)], rook: resting })?.open).toEqual(before.open)
  })

  it('an OSD whose Deployment says nothing of the pace is not called touched: Rook may stop it yet', () => {
    const { pace: _, ...bare } = osd(1)
    const opened = { osd: 1, atMs: 5, generation: 3 }
    expect([isTouched(bare, opened), isTouched(osd(1), opened)]).toEqual([false, true])
  })

  it('stays as it is while nothing changes', () => {
    expect(currentPace(state, { key: 'a', osds: [osd(0)], rook: undefined })).toBe(state)
  })
})

describe('whether OSDs are to be opened', () => {
  const record = freshRecord(1)
  it('an OSD with another image is due though every pass was whole: somebody may have changed it by hand', () => {
    expect(isWalkDue(state, [osd(0), osd(1, { isImageWanted: false })], record)).toBe(true)
  })
  it('one that is left alone keeps no restart from going on', () => {
    const left = osd(0, {}, { leftAlone: 'its node is cordoned' })
    expect(isWalkDue({ ...state, pending: [0] }, [left], record)).toBe(false)
  })
})

it.each([
  [{}, undefined],
  [
    { 'ceph.rook.io/do-not-reconcile': '' },
    'the CephCluster has the label ceph.rook.io/do-not-reconcile, so Rook does not reconcile it',
  ],
  [{ do_not_reconcile: 'true' }, 'the CephCluster has the label do_not_reconcile, so Rook does not reconcile it'],
])('a Rook that is kept from the whole cluster is not waited for in silence: %j', (labels, problem) => {
  const labelled = { ...cluster(), metadata: { ...cluster().metadata, labels } }
  expect(parseRookPass(labelled as never, overrides).problem).toBe(problem)
})

describe('what Rook makes OSDs of', () => {
  const operator = { state: 'running' as const, images: ['rook:2'] }
  it('another generation, another Rook and another request each make another key', () => {
    const keys = [
      paceKey(cluster(), operator, undefined),
      paceKey({ ...cluster(), metadata: { name: 'rook-ceph', generation: 8 } }, operator, undefined),
      paceKey(cluster(), { ...operator, images: ['rook:3'] }, undefined),
      paceKey(
        { ...cluster(), metadata: { name: 'r', generation: 7, annotations: { 'cofferdam.io/pace-again': 'x' } } },
        operator,
        undefined,
      ),
    ]
    expect(new Set(keys).size).toBe(4)
  })
  it('a Rook that was never seen has a key too, so that the first one that is seen makes another', () => {
    const unseen = paceKey(cluster(), { state: 'unseen', images: [] }, undefined)
    expect([unseen, paceKey(cluster(), operator, undefined) === unseen]).toEqual(['7||', false])
  })
  it('a Rook that is gone for a moment changes nothing', () => {
    const key = paceKey(cluster(), operator, undefined)
    expect(paceKey(cluster(), { state: 'unseen', images: [] }, { ...state, key })).toBe(key)
  })
})

describe('what Rook says of itself', () => {
  const said = (conditions: object[], more: object = {}) =>
    parseRookPass(cluster({ status: { conditions, ...more } }) as never, overrides)
  const table: Record<string, { readonly seen: RookPass; readonly is: Partial<RookPass> }> = {
    'nothing: it rests': { seen: said([]), is: { state: 'resting', isUpToDate: true } },
    'that it progresses: a pass runs': {
      seen: said([{ type: 'Progressing', status: 'True' }]),
      is: { state: 'passing' },
    },
    'that progress is false: the pass has failed, and why': {
      seen: said([{ type: 'Progressing', status: 'False', message: 'no quorum' }]),
      is: { state: 'resting', failure: 'no quorum' },
    },
    'that OSDs failed: it went through all of them': {
      seen: said([
        { type: 'Progressing', status: 'False', message: '2 failures encountered while running osds on nodes' },
      ]),
      is: { hasFinishedOsds: true },
    },
    'an older generation: it has not seen the change yet': {
      seen: said([], { observedGeneration: 6 }),
      is: { isUpToDate: false },
    },
    'a generation of an object that has none: there is no change that it could have missed': {
      seen: parseRookPass(
        { ...cluster({ status: { observedGeneration: 6 } }), metadata: { name: 'rook-ceph' } } as never,
        overrides,
      ),
      is: { isUpToDate: true },
    },
    'nonsense: it counts as nothing said': { seen: said(['x', 3] as never), is: { state: 'resting' } },
  }
  it.each(Object.entries(table))('%s', (_, { seen, is }) => {
    expect(seen).toMatchObject(is)
  })
  it('names what keeps it from a pass', () => {
    expect(parseRookPass(cluster(), undefined).problem).toContain('is missing')
    const labelled = { ...cluster(), metadata: { name: 'r', labels: { 'ceph.rook.io/do-not-reconcile': '' } } }
    expect(parseRookPass(labelled, overrides).problem).toContain('does not reconcile it')
  })
})

describe('what is remembered of the pace', () => {
  const whole: PaceState = {
    key: '7|rook:2|',
    pending: [3, 5],
    open: [
      { osd: 1, atMs: 5, generation: 2 },
      { osd: 2, atMs: 5, generation: 2, touchedMs: 9 },
    ],
    pass: { atMs: 6, isSeen: true },
    notBeforeMs: 8,
    rounds: 2,
  }
  it.each([whole, state])('comes back as it was written', (pace) => {
    const text = JSON.parse(JSON.stringify(formatPace(pace)))
    expect([isPace(text), parsePace(text)]).toEqual([true, pace])
  })
  it.each([
    null,
    {},
    { key: 1, rounds: 0 },
    { key: '', rounds: 0, open: [[1]] },
    { key: '', rounds: 0, pending: ['0'] },
  ])('is refused as a whole where a part of it is not understood', (value) => {
    expect(isPace(value as never)).toBe(false)
  })
})
