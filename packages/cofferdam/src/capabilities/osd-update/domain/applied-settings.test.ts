import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { describe, expect, it } from 'vitest'
import { appliedAnnotation } from './applied-settings.ts'
import { adaptOsdDeployment, needsUpdate } from './osd-deployment.ts'

const image = 'registry.example/ceph/ceph:v19'

function cluster(spec: CephCluster['spec'] = {}): CephCluster {
  return {
    apiVersion: 'ceph.rook.io/v1',
    kind: 'CephCluster',
    metadata: { name: 'my-cluster', namespace: 'rook-ceph', uid: 'uid-1' },
    spec: { cephVersion: { image }, ...spec },
  }
}

/** As somebody else made it, with things of his own. */
const foreign: Deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'rook-ceph-osd-3', namespace: 'rook-ceph', labels: { app: 'rook-ceph-osd', site: 'x' } },
  spec: {
    selector: { matchLabels: { app: 'rook-ceph-osd' } },
    template: {
      metadata: { labels: { app: 'rook-ceph-osd', site: 'x' } },
      spec: {
        containers: [{ name: 'osd', image }],
        tolerations: [{ key: 'disk', operator: 'Exists' }],
      },
    },
  },
}

const everything: CephCluster['spec'] = {
  resources: { osd: { limits: { memory: '4Gi' } } },
  labels: { osd: { team: 'storage' } },
  annotations: { all: { note: 'hello' } },
  priorityClassNames: { osd: 'high' },
  placement: { all: { tolerations: [{ key: 'storage', operator: 'Exists' }] } },
}

/** The same but for our own note. */
function unnoted(deployment: Deployment): Deployment {
  const { [appliedAnnotation]: _, ...annotations } = deployment.metadata.annotations ?? {}
  const { annotations: __, ...metadata } = deployment.metadata
  return {
    ...deployment,
    metadata: Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations },
  }
}

describe('what leaves the spec of a CephCluster', () => {
  const written = adaptOsdDeployment(foreign, cluster(everything))

  it('leaves the Deployments that we put it on, and what others had put there stays', () => {
    const back = adaptOsdDeployment(written, cluster())
    expect([
      back.metadata.labels,
      back.metadata.annotations ?? {},
      back.spec.template.metadata?.labels,
      back.spec.template.metadata?.annotations ?? {},
      back.spec.template.spec,
    ]).toEqual([foreign.metadata.labels, {}, foreign.spec.template.metadata?.labels, {}, foreign.spec.template.spec])
  })

  it('leaves once: a second look at the same cluster finds nothing to write', () => {
    const back = adaptOsdDeployment(written, cluster())
    expect([needsUpdate(written, cluster(everything)), needsUpdate(back, cluster())]).toEqual([false, false])
  })

  it('stays on a Deployment that we never wrote, for nobody knows whose it is', () => {
    const others = unnoted(written)
    expect(adaptOsdDeployment(others, cluster())).toBe(others)
  })

  it('stays where it was already what the spec said when we first wrote, for it was put there by somebody else', () => {
    const both = cluster({ labels: { osd: { site: 'x', team: 'storage' } } })
    const back = adaptOsdDeployment(adaptOsdDeployment(foreign, both), cluster())
    expect(back.metadata.labels).toEqual(foreign.metadata.labels)
  })

  it('stays where somebody has changed it since, for then it is his', () => {
    const label = cluster({ labels: { osd: { team: 'storage', shift: 'night' } } })
    const ours = adaptOsdDeployment(foreign, label)
    const labels = { ...ours.metadata.labels, team: 'his' }
    const changed = { ...ours, metadata: { ...ours.metadata, labels } }
    expect(adaptOsdDeployment(changed, cluster()).metadata.labels).toEqual({ ...foreign.metadata.labels, team: 'his' })
  })

  it('goes one by one: what the spec still says stays ours, and can leave later', () => {
    const less = adaptOsdDeployment(written, cluster({ ...everything, labels: {}, resources: {} }))
    const { spec } = adaptOsdDeployment(less, cluster()).spec.template
    expect([
      less.metadata.labels,
      less.spec.template.spec.containers,
      less.spec.template.spec.priorityClassName,
      spec,
    ]).toEqual([foreign.metadata.labels, foreign.spec.template.spec.containers, 'high', foreign.spec.template.spec])
  })

  it('stays when our own note of it cannot be read', () => {
    for (const note of ['{"labels":', '"all of it"']) {
      const annotations = { ...written.metadata.annotations, [appliedAnnotation]: note }
      const scribbled = { ...written, metadata: { ...written.metadata, annotations } }
      expect(adaptOsdDeployment(scribbled, cluster())).toBe(scribbled)
    }
  })

  it('is noted only when something is written anyway: no OSD is written, let alone restarted, for the note', () => {
    const unnotedButRight = unnoted(written)
    expect(needsUpdate(unnotedButRight, cluster(everything))).toBe(false)
  })
})
