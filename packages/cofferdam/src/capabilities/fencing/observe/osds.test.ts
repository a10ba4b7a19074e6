import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { describe, expect, it } from 'vitest'
import { hostnameOf } from '../../../shared/node-hostnames.ts'
import { known, unknown } from '../../../shared/observed.ts'
import type { CephDecided } from '../../ceph-drain/controller/decisions.ts'
import type { FencedOsd } from '../domain/snapshot.ts'
import { FencedOsds } from './osds.ts'

const namespace = 'rook-ceph'
const changedAt = Date.parse('2026-01-01T00:00:10Z')

function deployment(id: number): Deployment {
  const labels = { app: 'rook-ceph-osd', 'ceph-osd-id': String(id), 'topology-location-host': `host-${id}` }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name: `rook-ceph-osd-${id}`, labels },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [] } } },
    status: { readyReplicas: 1 },
  }
}

function pod(id: number, nodeName: string, isReady = true): Pod {
  const labels = { app: 'rook-ceph-osd', 'ceph-osd-id': String(id) }
  const lastTransitionTime = '2026-01-01T00:00:10Z'
  const conditions = [{ type: 'Ready', status: isReady ? ('True' as const) : ('False' as const), lastTransitionTime }]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name: `rook-ceph-osd-${id}-${nodeName}`, labels },
    spec: { nodeName, containers: [] },
    status: { phase: 'Running', conditions },
  }
}

function views(deployments: readonly Deployment[], pods: readonly Pod[], nodes: readonly Node[] = []) {
  const ofOsd = (index: string) => pods.filter(({ metadata }) => index.endsWith(`/${metadata.labels?.['ceph-osd-id']}`))
  return {
    osdDeployments: { byIndex: () => deployments },
    osdPods: { byIndex: (_: string, index: string) => ofOsd(index) },
    nodes: { byIndex: (_: string, hostname: string) => nodes.filter((node) => hostnameOf(node) === hostname) },
  }
}

function decidedWith(domain: string): CephDecided {
  const decision = { failureDomainType: 'zone', domains: [{ domain, osds: [0] }] }
  return { snapshot: { osds: [] }, decision, domainType: 'zone', polledAtMs: 0 } as unknown as CephDecided
}

describe('where OSDs are', () => {
  const deployments = [deployment(0), deployment(1)]
  const pods = [pod(0, 'node-a'), pod(1, 'node-b')]

  it('is the very same list while nothing changed, so that nothing is decided anew for it', () => {
    const osds = new FencedOsds()
    const first = osds.observe(views(deployments, pods), namespace, undefined)
    expect(first).toEqual([
      { id: 0, isReady: true, nodeName: known('node-a'), domain: undefined, changedMs: changedAt },
      { id: 1, isReady: true, nodeName: known('node-b'), domain: undefined, changedMs: changedAt },
    ])
    expect(osds.observe(views([...deployments], [...pods]), namespace, undefined)).toBe(first)
  })

  it('follows a pod that moved, and leaves the others as they were', () => {
    const osds = new FencedOsds()
    const [, other] = osds.observe(views(deployments, pods), namespace, undefined)
    const [moved, same] = osds.observe(views(deployments, [pod(0, 'node-c'), ...pods.slice(1)]), namespace, undefined)
    expect(moved?.nodeName).toEqual(known('node-c'))
    expect(same).toBe(other)
  })

  it('is the node whose hostname it is pinned to, for a fence of that node must count its OSDs though their pods are gone', () => {
    const osds = new FencedOsds()
    const [of] = deployments as [Deployment]
    const pinned = { ...of.spec.template, spec: { containers: [], nodeSelector: { 'kubernetes.io/hostname': 'w1' } } }
    const gone = [{ ...of, spec: { ...of.spec, template: pinned } }]
    const node = (name: string): Node => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { 'kubernetes.io/hostname': 'w1' } },
    })
    const placesSeen = [[node('w1.example.com')], [node('w1.example.com'), node('w1.example.org')], []].map(
      (nodes) => osds.observe(views(gone, [], nodes), namespace, undefined)[0]?.nodeName,
    )
    expect(placesSeen).toEqual([
      known('w1.example.com'),
      unknown('nodes w1.example.com and w1.example.org have the same label kubernetes.io/hostname=w1'),
      unknown('no node has the label kubernetes.io/hostname=w1'),
    ])
  })

  it('follows Ceph when it puts an OSD into another failure domain', () => {
    const osds = new FencedOsds()
    const domainsSeen = ['x', 'x', 'y'].map(
      (domain) => osds.observe(views(deployments, pods), namespace, decidedWith(domain))[0]?.domain,
    )
    expect(domainsSeen).toEqual(['x', 'x', 'y'])
  })

  describe('tells what its pods say', () => {
    const going = ({ metadata, ...pod }: Pod): Pod => ({
      ...pod,
      metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:30Z' },
    })
    const made = (creationTimestamp: string): Pod => {
      const { metadata, spec } = pod(0, 'node-c')
      return { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, creationTimestamp }, spec }
    }
    const cases: Record<string, [readonly Pod[], Pick<FencedOsd, 'isLeaving' | 'changedMs'>]> = {
      'since when it is ready': [[pod(0, 'node-a')], { changedMs: changedAt }],
      'since when it is not': [[pod(0, 'node-a', false)], { changedMs: changedAt }],
      'that it leaves, when its only pod is being deleted': [[going(pod(0, 'node-a'))], { isLeaving: true }],
      'that it leaves, when it has no pod, though its Deployment still counts one': [[], { isLeaving: true }],
      'when its new pod was made, which has no condition yet, beside the one that goes': [
        [going(pod(0, 'node-a')), made('2026-01-01T00:00:25Z')],
        { changedMs: changedAt + 15_000 },
      ],
      'nothing, where no time is on record': [[{ ...pod(0, 'node-a'), status: {} }], {}],
    }
    it.each(Object.entries(cases))('%s', (_, [seen, expected]) => {
      const [place] = new FencedOsds().observe(views([deployment(0)], seen), namespace, undefined)
      const { isLeaving, changedMs } = place ?? {}
      expect({ isLeaving, changedMs }).toEqual(expected)
    })
  })
})
