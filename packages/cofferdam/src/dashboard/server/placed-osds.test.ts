import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { describe, expect, it } from 'vitest'
import { buildOsdDeployment } from '../../capabilities/osd-update/domain/build-osd-deployment.ts'
import type { NewOsd } from '../../capabilities/osd-update/domain/new-osd.ts'
import { closingOf } from '../../shared/closed-node.ts'
import { known } from '../../shared/observed.ts'
import { createOsdReader } from './placed-osds.ts'

const namespace = 'rook-ceph'
const cluster: CephCluster = {
  apiVersion: 'ceph.rook.io/v1',
  kind: 'CephCluster',
  metadata: { namespace, name: 'ceph' },
  spec: { cephVersion: { image: 'ceph:1' }, disruptionManagement: { managePodBudgets: true } },
}
const newer: CephCluster = { ...cluster, spec: { ...cluster.spec, cephVersion: { image: 'ceph:2' } } }
const nodeCalled = (name: string, isCordoned = false) =>
  known({ name, hostname: name, deviceClass: undefined, closing: closingOf({ spec: { unschedulable: isCordoned } }) })
const nodeOf = (hostname: string) => nodeCalled(hostname)
const asked = { cluster, pods: [], mode: 'own' as const, restartAskedMs: undefined, nodeOf }

function deployment(id: number, more: Partial<NewOsd> = {}): Deployment {
  const location = { host: 'a', rack: 'r1', zone: 'x' }
  return buildOsdDeployment(cluster, { id, node: 'a', location, ...more })
}

function pod(id: number, nodeName: string, creationTimestamp = '2026-01-01T00:00:00Z'): Pod {
  const metadata = { namespace, name: `osd-${id}`, labels: { app: 'rook-ceph-osd', 'ceph-osd-id': String(id) } }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, creationTimestamp },
    spec: { containers: [], nodeName },
  }
}

describe('the OSDs of a cluster', () => {
  it('say where they stand: by their labels, or by the pod of one that is on a volume', () => {
    const onVolume = deployment(7, { node: undefined, location: {}, pvc: 'set1-data-0' })
    const osds = createOsdReader()({ ...asked, deployments: [deployment(0), onVolume], pods: [pod(7, 'node-b')] })
    expect(osds.map(({ id, host, within }) => ({ id, host, within }))).toEqual([
      { id: 0, host: 'a', within: ['zone x', 'rack r1'] },
      { id: 7, host: 'node-b', within: [] },
    ])
  })

  it('need an update when the cluster wants another image, and none where updates are switched off', () => {
    const wants = (given: CephCluster) =>
      createOsdReader()({ ...asked, cluster: given, deployments: [deployment(0)] }).map((osd) => osd.needsUpdate)
    expect(wants(cluster)).toEqual([false])
    expect(wants(newer)).toEqual([true])
    const off = createOsdReader()({ ...asked, cluster: newer, mode: 'off', deployments: [deployment(0)] })
    expect(off.map((osd) => osd.needsUpdate)).toEqual([false])
  })

  it('beside Rook need one only when their pods are older than the restart that was asked for', () => {
    const restartAskedMs = Date.parse('2026-06-01T00:00:00Z')
    const osds = createOsdReader()({
      ...asked,
      cluster: newer,
      mode: 'plan',
      restartAskedMs,
      deployments: [deployment(0), deployment(1)],
      pods: [pod(0, 'a'), pod(1, 'a', '2026-06-02T00:00:00Z')],
    })
    expect(osds.map(({ needsUpdate }) => needsUpdate)).toEqual([true, false])
  })

  it('are passed over when they do not say which they are, and the others are there', () => {
    const { metadata, ...rest } = deployment(3)
    const nameless = { ...rest, metadata: { ...metadata, labels: { app: 'rook-ceph-osd' } } }
    expect(createOsdReader()({ ...asked, deployments: [nameless, deployment(4)] }).map(({ id }) => id)).toEqual([4])
  })
})

describe('a second look', () => {
  it('reads anew only what changed, and forgets what is gone', () => {
    const readOsds = createOsdReader()
    const [first, second, third] = [deployment(0), deployment(1), deployment(2)]
    const before = readOsds({ ...asked, deployments: [first, second, third] })
    const changed = { ...second, metadata: { ...second.metadata, annotations: { other: 'yes' } } }
    const after = readOsds({ ...asked, deployments: [first, changed] })
    expect(after).toHaveLength(2)
    expect(after[0]).toBe(before[0])
    expect(after[1]).not.toBe(before[1])
  })

  it('reads all anew when the cluster changed', () => {
    const readOsds = createOsdReader()
    const deployments = [deployment(0), deployment(1)]
    readOsds({ ...asked, deployments })
    expect(readOsds({ ...asked, cluster: newer, deployments }).map(({ needsUpdate }) => needsUpdate)).toEqual([
      true,
      true,
    ])
  })

  it('reads all anew when a node changed', () => {
    const readOsds = createOsdReader()
    const ready = {
      ...deployment(0),
      status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1 },
    }
    const look = (isCordoned: boolean) =>
      readOsds({
        ...asked,
        cluster: newer,
        deployments: [ready],
        nodeOf: (hostname) => nodeCalled(hostname, isCordoned),
      })
    expect(look(false)[0]).not.toHaveProperty('leftAlone')
    expect(look(true)[0]).toHaveProperty('leftAlone')
  })
})
