import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { PodSpec } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import { known, unknown } from '../../../shared/observed.ts'
import { parseNode, parseServiceDaemon } from './cluster-objects.ts'

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
