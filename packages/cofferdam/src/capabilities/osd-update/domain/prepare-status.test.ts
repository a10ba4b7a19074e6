import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import { parsePrepareStatus, statusMapName } from './prepare-status.ts'

const long = `node-${'x'.repeat(60)}`
const map = (name: string, facts: { readonly place?: string; readonly node?: string; readonly status?: object }) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name,
    labels: { app: 'rook-ceph-osd', ...(facts.node !== undefined && { node: facts.node }) },
    ...(facts.place !== undefined && { annotations: { 'cofferdam.io/place': facts.place } }),
  },
  data: { status: JSON.stringify({ status: 'completed', ...facts.status }) },
})
const parsed = (given: ConfigMap) => {
  const read = parsePrepareStatus(given)
  return read !== undefined && 'status' in read ? read.status : read
}

describe('the place that a status is about', () => {
  it.each([
    ['its annotation, for a long name is only a hash in its own', map(statusMapName(long), { place: long }), long],
    ['its label, where Rook wrote it', map('rook-ceph-osd-a-status', { node: 'a' }), 'a'],
    ['its name, where it says nothing', map('rook-ceph-osd-a-status', {}), 'a'],
    [
      'its name, where it claims to be about another: it could put OSDs on a node of others',
      map('rook-ceph-osd-a-status', { place: 'b', node: 'b' }),
      'a',
    ],
  ])('is told by %s', (_, given, place) => {
    expect(parsed(given)?.place).toBe(place)
  })
})

describe('what a status says', () => {
  it('a result without a list has no OSDs', () => {
    expect(parsed(map('rook-ceph-osd-a-status', {}))).toMatchObject({ state: 'completed', osds: [] })
  })

  it('a ConfigMap without data is a problem of its place, and no result', () => {
    const { data: _, ...empty } = map('rook-ceph-osd-a-status', {})
    expect(parsed(empty)).toMatchObject({ place: 'a', problem: 'its key status is no JSON' })
  })

  it('an entry that is no OSD spoils the whole: half a result would be taken for all of it', () => {
    expect(parsed(map('rook-ceph-osd-a-status', { status: { osds: [null] } }))).toMatchObject({
      problem: 'its osds[0] has no id that is a whole number',
    })
  })

  it('how the disk was made and where its volume can be attached: without it the OSD would not start again', () => {
    const osds = [
      { id: 3, 'lv-path': '/dev/sdb', 'lv-mode': 'raw', topologyAffinity: 'topology.kubernetes.io/zone=z1' },
    ]
    expect(parsed(map('rook-ceph-osd-a-status', { status: { osds } }))).toMatchObject({
      osds: [{ id: 3, blockPath: '/dev/sdb', mode: 'raw', topology: 'topology.kubernetes.io/zone=z1' }],
    })
  })
})
