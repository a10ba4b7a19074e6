import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { PodSpec } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import { parseDaemon, parseNode, parseServiceDaemon } from './cluster-objects.ts'

it('a node is closed when it takes no pods, and not because it is unwell', () => {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' } }
  const named = { name: 'node-a', hostname: 'node-a' }
  expect(parseNode({ ...node, spec: { unschedulable: true } })).toEqual({ ...named, isClosed: true })
  expect(parseNode({ ...node, spec: { taints: [{ key: 'x', effect: 'NoSchedule' }] } })).toEqual({
    ...named,
    isClosed: false,
  })
})

it('a node that a tool empties with its taint alone takes no pods either', () => {
  const taints = [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' }] as const
  expect(parseNode({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' }, spec: { taints } })).toEqual({
    name: 'node-a',
    hostname: 'node-a',
    isClosed: true,
  })
})

describe('a daemon of a service', () => {
  const nodeOf = (hostname: string) => (hostname === 'host-a' ? known({ name: 'node-a' }) : unknown('no such host'))
  const server = (place: Partial<PodSpec>, labels: Record<string, string> = {}): Deployment => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'rook-ceph-nfs-files-a',
      namespace: 'rook-ceph',
      labels: { app: 'rook-ceph-nfs', ceph_nfs: 'files', ceph_daemon_id: 'files-a', ...labels },
    },
    spec: { selector: {}, template: { spec: { containers: [], ...place } } },
  })
  const onHosts = (...values: string[]): Partial<PodSpec> => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values }] }],
        },
      },
    },
  })
  const parsed = (place: Partial<PodSpec>) => parseServiceDaemon(server(place), [], { nodeOf })

  it('that is pinned to one host is on that node also while it has no pod: it comes back there and nowhere else', () => {
    expect(parsed({ nodeSelector: { 'kubernetes.io/hostname': 'host-a' } })).toEqual({
      type: 'nfs',
      budget: 'rook-ceph-nfs-files',
      id: 'files-a',
      nodeName: 'node-a',
      isPinned: true,
      isReady: false,
    })
  })

  it('with two hosts to run on can be left without any by two drains, with three it cannot', () => {
    expect(parsed(onHosts('host-a', 'host-b'))?.isPinned).toBe(true)
    expect(parsed(onHosts('host-a', 'host-b', 'host-c'))?.isPinned).toBe(false)
    expect(parsed({})?.isPinned).toBe(false)
  })

  it('that cannot be told from its like, or is of another kind, is none', () => {
    expect(parseServiceDaemon(server({}, { ceph_daemon_id: '' }), [], { nodeOf })).toBeUndefined()
    expect(parseServiceDaemon(server({}, { app: 'rook-ceph-rgw' }), [], { nodeOf })).toBeUndefined()
  })
})

describe('a mon or mgr', () => {
  const nodeOf = (hostname: string) => (hostname === 'host-a' ? known({ name: 'node-a' }) : unknown('no such host'))
  const mon = (labels: Record<string, string> | undefined, hostname = 'host-a'): Deployment => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'rook-ceph-mon-a', namespace: 'rook-ceph', ...(labels && { labels }) },
    spec: {
      selector: {},
      template: { spec: { containers: [], nodeSelector: { 'kubernetes.io/hostname': hostname } } },
    },
  })
  const named = { app: 'rook-ceph-mon', ceph_daemon_id: 'a' }

  it('is where it is pinned, and nowhere where that host is not known: it would be held beside no OSD', () => {
    const parsed = { type: 'mon', id: 'a', isPinned: true, isReady: false }
    expect(parseDaemon(mon(named), [], { nodeOf })).toEqual({ ...parsed, nodeName: 'node-a' })
    expect(parseDaemon(mon(named, 'host-x'), [], { nodeOf })).toEqual({ ...parsed, nodeName: undefined })
  })

  const none: Record<string, Record<string, string> | undefined> = {
    'without labels is none': undefined,
    'of another kind is none': { app: 'rook-ceph-rgw', ceph_daemon_id: 'a' },
    'without a name is none: it could not be told from its like': { app: 'rook-ceph-mon' },
    'with an empty name is none': { app: 'rook-ceph-mon', ceph_daemon_id: '' },
  }
  it.each(Object.entries(none))('%s', (_sentence, labels) => {
    expect(parseDaemon(mon(labels), [], { nodeOf })).toBeUndefined()
    if (labels === undefined) expect(parseServiceDaemon(mon(labels), [], { nodeOf })).toBeUndefined()
  })
})

it('a node that is lost says why and since when: its OSDs count as down before their pods do', () => {
  const conditions = [{ type: 'Ready', status: 'False' as const, lastTransitionTime: '1970-01-01T00:00:05Z' }]
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' } }
  expect(parseNode({ ...node, status: { conditions } }).lost).toEqual({ why: 'is NotReady', sinceMs: 5_000 })
  const [{ lastTransitionTime: _, ...timeless }] = conditions as [(typeof conditions)[number]]
  expect(parseNode({ ...node, status: { conditions: [timeless] } as never }).lost).toEqual({
    why: 'is NotReady',
    sinceMs: undefined,
  })
})
