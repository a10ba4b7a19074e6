import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { describe, expect, it } from 'vitest'
import { buildOsdDeployment } from './build-osd-deployment.ts'
import type { NewOsd } from './new-osd.ts'
import { buildOsdPodSpec } from './osd-pod-spec.ts'

const image = 'registry.example/ceph/ceph:v19'
const fsid = '11111111-2222-3333-4444-555555555555'

function cluster(spec: CephCluster['spec'] = {}): CephCluster {
  return {
    apiVersion: 'ceph.rook.io/v1',
    kind: 'CephCluster',
    metadata: { name: 'c', namespace: 'rook-ceph', uid: 'uid-1' },
    spec: { cephVersion: { image }, dataDirHostPath: '/data/rook', ...spec },
    status: { ceph: { fsid } },
  }
}

const onDisk: NewOsd = {
  id: 3,
  node: 'a',
  location: { root: 'default', zone: 'z', host: 'a' },
  uuid: 'u-3',
  blockPath: '/dev/sdb',
  mode: 'raw',
  deviceClass: 'ssd',
}
const onClaim: NewOsd = {
  id: 8,
  node: undefined,
  location: { root: 'default', host: 'set1-data-0' },
  uuid: 'u-8',
  mode: 'raw',
  pvc: 'set1-data-0',
  set: 'set1',
  topology: 'topology.kubernetes.io/zone=z1',
}

describe('the pod of an OSD', () => {
  it('that is encrypted shares semaphores with its node: without them cryptsetup waits for ever', () => {
    const { hostIPC } = buildOsdPodSpec(cluster(), { ...onDisk, isEncrypted: true })
    expect([hostIPC, buildOsdPodSpec(cluster(), onDisk).hostIPC]).toEqual([true, undefined])
  })

  it('on a disk is activated by who it is, and runs ceph-osd at its place in the CRUSH map', () => {
    const pod = buildOsdPodSpec(cluster(), onDisk)
    expect([pod.nodeSelector, pod.initContainers?.map(({ name }) => name)]).toEqual([
      { 'kubernetes.io/hostname': 'a' },
      ['activate', 'chown-container-data-dir'],
    ])
    expect(pod.initContainers?.[0]).toMatchObject({
      image,
      command: ['ceph-volume', 'activate'],
      args: ['--osd-id', '3', '--osd-uuid', 'u-3', '--no-systemd', '--no-tmpfs'],
    })
    const [osd] = pod.containers
    expect([osd?.name, osd?.command, osd?.args?.slice(0, 10)]).toEqual([
      'osd',
      ['ceph-osd'],
      [
        '--foreground',
        '--id',
        '3',
        '--fsid',
        fsid,
        '--setuser',
        'ceph',
        '--setgroup',
        'ceph',
        '--crush-location=root=default zone=z host=a',
      ],
    ])
    expect(pod.volumes).toContainEqual({
      name: 'activate-osd',
      hostPath: { path: `/data/rook/rook-ceph/${fsid}_u-3`, type: 'DirectoryOrCreate' },
    })
    const texts = Object.fromEntries((osd?.env ?? []).map(({ name, value }) => [name, value]))
    expect(texts).toMatchObject({
      ROOK_OSD_ID: '3',
      ROOK_OSD_UUID: 'u-3',
      ROOK_BLOCK_PATH: '/dev/sdb',
      ROOK_CV_MODE: 'raw',
    })
  })

  it('on a claim has its device handed on, and stays where its volume can be', () => {
    const pod = buildOsdPodSpec(cluster(), onClaim)
    expect([pod.nodeSelector, pod.initContainers?.map(({ name }) => name)]).toEqual([
      undefined,
      ['blkdevmapper', 'activate', 'expand-bluefs', 'chown-container-data-dir'],
    ])
    expect(pod.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms).toEqual([
      { matchExpressions: [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: ['z1'] }] },
    ])
    expect(pod.volumes).toContainEqual({ name: 'osd-claim', persistentVolumeClaim: { claimName: 'set1-data-0' } })
  })

  it('keeps to the placement of its device set as well as to the topology of its volume', () => {
    const term = { matchExpressions: [{ key: 'disk', operator: 'Exists' as const }] }
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } }
    const storage = { storageClassDeviceSets: [{ name: 'set1', count: 1, placement: { nodeAffinity } }] }
    const { affinity } = buildOsdDeployment(cluster({ storage }), onClaim).spec.template.spec
    expect(affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms).toEqual([
      {
        matchExpressions: [
          { key: 'disk', operator: 'Exists' },
          { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['z1'] },
        ],
      },
    ])
  })

  it('mounts what its containers ask for, and each volume once', () => {
    for (const osd of [onDisk, onClaim]) {
      const pod = buildOsdPodSpec(cluster(), osd)
      const volumes = (pod.volumes ?? []).map(({ name }) => name)
      const all = [...(pod.initContainers ?? []), ...pod.containers]
      const asked = all.flatMap((one) => [...(one.volumeMounts ?? []), ...(one.volumeDevices ?? [])])
      expect([...new Set(asked.map(({ name }) => name))].sort()).toEqual([...volumes].sort())
      expect(new Set(volumes).size).toBe(volumes.length)
    }
  })

  it('uses the network of its node where the cluster does', () => {
    expect(buildOsdPodSpec(cluster({ network: { provider: 'host' } }), onDisk)).toMatchObject({
      hostNetwork: true,
      dnsPolicy: 'ClusterFirstWithHostNet',
    })
  })
})
