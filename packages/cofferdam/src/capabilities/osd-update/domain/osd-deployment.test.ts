import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { describe, expect, it } from 'vitest'
import { buildOsdDeployment } from './build-osd-deployment.ts'
import { adaptOsdDeployment, needsUpdate } from './osd-deployment.ts'
import { buildOsdPodSpec } from './osd-pod-spec.ts'
import { markUpdateStarted, parseUpdateMark } from './update-mark.ts'

const image = 'registry.example/ceph/ceph:v19'
const newer = 'registry.example/ceph/ceph:v20'

function cluster(spec: CephCluster['spec'] = {}): CephCluster {
  return {
    apiVersion: 'ceph.rook.io/v1',
    kind: 'CephCluster',
    metadata: { name: 'my-cluster', namespace: 'rook-ceph', uid: 'uid-1' },
    spec: { cephVersion: { image }, ...spec },
  }
}

const place = { id: 3, node: 'node-a', location: { root: 'default', host: 'node-a.example' }, deviceClass: 'hdd' }
const existing = withCompany(buildOsdDeployment(cluster(), place))

/** With an init container of the same image, and a sidecar that is none of Ceph's. */
function withCompany(deployment: Deployment): Deployment {
  const { template } = deployment.spec
  const containers = [...template.spec.containers, { name: 'logs', image: 'registry.example/logs:1' }]
  const spec = { ...template.spec, containers, initContainers: [{ name: 'activate', image }] }
  return { ...deployment, spec: { ...deployment.spec, template: { ...template, spec } } }
}

describe('the Deployment of an OSD', () => {
  it('is the very same object when the cluster wants nothing else, so a look at thousands costs no write (60)', () => {
    const wanted = cluster({ resources: { mgr: { limits: { cpu: '1' } } }, labels: { mon: { a: 'b' } } })
    expect([adaptOsdDeployment(existing, wanted) === existing, needsUpdate(existing, wanted)]).toEqual([true, false])
  })

  it('gets the new image in all that ran the old one, and in nothing else', () => {
    const { template } = adaptOsdDeployment(existing, cluster({ cephVersion: { image: newer } })).spec
    const images = [...template.spec.containers, ...(template.spec.initContainers ?? [])].map((one) => [
      one.name,
      one.image,
    ])
    expect(images).toEqual([
      ['osd', newer],
      ['logs', 'registry.example/logs:1'],
      ['activate', newer],
    ])
  })

  it('gets resources, labels, annotations, priority class and tolerations, those for OSDs over those for all', () => {
    const adapted = adaptOsdDeployment(
      existing,
      cluster({
        resources: { osd: { limits: { memory: '4Gi' } } },
        labels: { all: { team: 'any', site: 'x' }, osd: { team: 'storage' } },
        annotations: { osd: { note: 'hello' } },
        priorityClassNames: { all: 'low', osd: 'high' },
        placement: { all: { tolerations: [{ key: 'storage', operator: 'Exists' }] } },
      }),
    )
    const { metadata, spec } = adapted.spec.template
    expect([
      adapted.metadata.labels?.['team'],
      metadata?.labels?.['team'],
      metadata?.labels?.['site'],
      adapted.metadata.annotations?.['note'],
      metadata?.annotations,
      spec.containers[0]?.resources,
      spec.priorityClassName,
      spec.tolerations,
    ]).toEqual([
      'storage',
      'storage',
      'x',
      'hello',
      { note: 'hello' },
      { limits: { memory: '4Gi' } },
      'high',
      [{ key: 'storage', operator: 'Exists' }],
    ])
  })

  it('gets the resources of its device class where the cluster has such', () => {
    const resources = { osd: { limits: { cpu: '1' } }, 'osd-hdd': { limits: { cpu: '2' } } }
    expect(adaptOsdDeployment(existing, cluster({ resources })).spec.template.spec.containers[0]?.resources).toEqual({
      limits: { cpu: '2' },
    })
  })

  it('is not restarted because the API server writes an amount in its own way', () => {
    const one = adaptOsdDeployment(existing, cluster({ resources: { osd: { limits: { cpu: '1', memory: '1Gi' } } } }))
    expect(needsUpdate(one, cluster({ resources: { osd: { limits: { cpu: '1000m', memory: '1024Mi' } } } }))).toBe(
      false,
    )
  })

  it('is written without a restart where only its own labels differ', () => {
    const labelled = adaptOsdDeployment(existing, cluster({ labels: { osd: { team: 'storage' } } }))
    const { labels: _, ...metadata } = labelled.metadata
    const stripped = { ...labelled, metadata: { ...metadata, labels: existing.metadata.labels ?? {} } }
    const again = adaptOsdDeployment(stripped, cluster({ labels: { osd: { team: 'storage' } } }))
    expect([again.metadata.labels?.['team'], again.spec.template === stripped.spec.template]).toEqual(['storage', true])
  })

  it('of another tool, without a selector by labels and without metadata of its pods, is adapted too', () => {
    const { metadata: _, ...template } = existing.spec.template
    const odd = { ...existing, spec: { ...existing.spec, selector: {}, template } }
    expect(adaptOsdDeployment(odd, cluster())).toBe(odd)
    expect(
      adaptOsdDeployment(odd, cluster({ labels: { osd: { app: 'mine' } } })).spec.template.metadata?.labels,
    ).toEqual({
      app: 'mine',
    })
  })

  it('loses the last toleration that we gave it, and has no empty list then', () => {
    const placement = { all: { tolerations: [{ key: 'storage', operator: 'Exists' as const }] } }
    const tolerant = adaptOsdDeployment(existing, cluster({ placement }))
    expect(adaptOsdDeployment(tolerant, cluster()).spec.template.spec).not.toHaveProperty('tolerations')
  })

  it('of an OSD whose place in the CRUSH map names no host has its node as failure domain', () => {
    const { labels } = buildOsdDeployment(cluster(), { id: 3, node: 'node-a', location: { root: 'default' } }).metadata
    expect(labels?.['failure-domain']).toBe('node-a')
  })

  it('never loses the labels that select its pods, whatever labels the cluster asks for', () => {
    const wanted = cluster({ labels: { osd: { app: 'mine', 'ceph-osd-id': '9', extra: 'yes' } } })
    const { labels } = adaptOsdDeployment(existing, wanted).spec.template.metadata ?? {}
    expect([labels?.['app'], labels?.['ceph-osd-id'], labels?.['extra']]).toEqual(['rook-ceph-osd', '3', 'yes'])
  })

  it('is built for a new OSD with the names, labels, place and owner that Rook gives it', () => {
    expect(buildOsdDeployment(cluster(), place)).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        name: 'rook-ceph-osd-3',
        namespace: 'rook-ceph',
        labels: osdLabels,
        ownerReferences: [
          {
            apiVersion: 'ceph.rook.io/v1',
            kind: 'CephCluster',
            name: 'my-cluster',
            uid: 'uid-1',
            controller: true,
          },
        ],
      },
      spec: {
        replicas: 1,
        strategy: { type: 'Recreate' },
        selector: { matchLabels: { app: 'rook-ceph-osd', rook_cluster: 'rook-ceph', 'ceph-osd-id': '3' } },
        template: {
          metadata: { labels: osdLabels },
          spec: buildOsdPodSpec(cluster(), place),
        },
      },
    })
  })

  it('is bound to its volume and to no node when it is on one', () => {
    const { metadata, spec } = buildOsdDeployment(cluster(), {
      id: 8,
      node: undefined,
      location: {},
      pvc: 'set1-data-0',
    })
    expect([
      metadata.labels?.['portable'],
      metadata.labels?.['failure-domain'],
      metadata.labels?.['ceph.rook.io/pvc'],
      spec.template.spec.nodeSelector,
    ]).toEqual(['true', 'set1-data-0', 'set1-data-0', undefined])
  })

  it('says to the millisecond when its update began, which restarts nothing by itself', () => {
    const marked = markUpdateStarted(existing, 1_800_000_000_123)
    expect([parseUpdateMark(marked), marked.spec === existing.spec, parseUpdateMark(existing)]).toEqual([
      { startedMs: 1_800_000_000_123 },
      true,
      { startedMs: undefined },
    ])
  })
})

const osdLabels = {
  app: 'rook-ceph-osd',
  rook_cluster: 'rook-ceph',
  'ceph-osd-id': '3',
  ceph_daemon_id: '3',
  ceph_daemon_type: 'osd',
  osd: '3',
  'app.kubernetes.io/name': 'ceph-osd',
  'app.kubernetes.io/instance': '3',
  'app.kubernetes.io/component': 'cephclusters.ceph.rook.io',
  'app.kubernetes.io/part-of': 'my-cluster',
  'app.kubernetes.io/managed-by': 'rook-ceph-operator',
  'app.kubernetes.io/created-by': 'rook-ceph-operator',
  'rook.io/operator-namespace': 'rook-ceph',
  'failure-domain': 'node-a.example',
  portable: 'false',
  'device-class': 'hdd',
  'osd-store': 'bluestore',
  encrypted: 'false',
  'topology-location-root': 'default',
  'topology-location-host': 'node-a-example',
}
