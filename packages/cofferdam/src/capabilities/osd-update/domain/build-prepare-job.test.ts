import type { PodSpec } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { describe, expect, it } from 'vitest'
import { buildClaim, buildPrepareJob, buildStartingStatus } from './build-prepare-job.ts'
import { prepareJobName, statusMapName } from './prepare-status.ts'

const image = 'registry.example/ceph/ceph:v19'
const rookImage = 'registry.example/rook/ceph:v1.18.8'
const run = { rookImage, nonce: 'n0nce' }

function cluster(spec: CephCluster['spec'] = {}): CephCluster {
  return {
    apiVersion: 'ceph.rook.io/v1',
    kind: 'CephCluster',
    metadata: { name: 'c', namespace: 'rook-ceph', uid: 'uid-1', generation: 4 },
    spec: { cephVersion: { image }, ...spec },
    status: { version: { version: '19.2.3-0' } },
  }
}

const variables = ({ containers }: PodSpec) =>
  Object.fromEntries((containers[0]?.env ?? []).map(({ name, value, valueFrom }) => [name, value ?? valueFrom]))
const chosen = (spec: CephCluster['spec'], name = 'a') => {
  const job = buildPrepareJob(cluster(spec), { name, asked: '4' }, run)
  const all = variables(job.spec.template.spec)
  return Object.fromEntries(Object.entries(all).filter(([key]) => key.startsWith('ROOK_DATA_')))
}

describe('a prepare Job', () => {
  it("runs Rook's own program on its node, with the image of Ceph and all that Rook tells it", () => {
    const job = buildPrepareJob(cluster(), { name: 'a', asked: '4 disks=sdc' }, run)
    const pod = job.spec.template.spec
    expect(job.metadata).toEqual({
      name: 'rook-ceph-osd-prepare-a',
      namespace: 'rook-ceph',
      labels: { app: 'rook-ceph-osd-prepare', rook_cluster: 'rook-ceph' },
      annotations: {
        'cofferdam.io/generation': '4 disks=sdc',
        'cofferdam.io/place': 'a',
        'cofferdam.io/prepare-nonce': 'n0nce',
      },
      ownerReferences: [
        { apiVersion: 'ceph.rook.io/v1', kind: 'CephCluster', name: 'c', uid: 'uid-1', controller: true },
      ],
    })
    expect([pod.nodeSelector, pod.serviceAccountName, pod.restartPolicy]).toEqual([
      { 'kubernetes.io/hostname': 'a' },
      'rook-ceph-osd',
      'OnFailure',
    ])
    expect(pod.initContainers).toEqual([
      {
        name: 'copy-bins',
        image: rookImage,
        args: ['copy-binaries', '--copy-to-dir', '/rook'],
        volumeMounts: [{ name: 'rook-binaries', mountPath: '/rook' }],
      },
    ])
    expect(pod.containers[0]).toMatchObject({
      name: 'provision',
      image,
      command: ['/rook/rook'],
      args: ['ceph', 'osd', 'provision'],
      securityContext: { privileged: true },
    })
    expect(variables(pod)).toMatchObject({
      ROOK_NODE_NAME: 'a',
      ROOK_CRUSHMAP_HOSTNAME: 'a',
      ROOK_CLUSTER_ID: 'uid-1',
      ROOK_CEPH_VERSION: 'ceph version 19.2.3-0 squid',
      ROOK_FSID: { secretKeyRef: { name: 'rook-ceph-mon', key: 'fsid' } },
      ROOK_MON_ENDPOINTS: { configMapKeyRef: { name: 'rook-ceph-mon-endpoints', key: 'data' } },
    })
  })

  it('mounts what its containers ask for, and each volume once', () => {
    const claimed = { name: 'set1-data-0', asked: '4', claim: { set: 'set1', index: 0, isMissing: true } }
    for (const place of [{ name: 'a', asked: '4' }, claimed]) {
      const pod = buildPrepareJob(cluster(), place, run).spec.template.spec
      const volumes = (pod.volumes ?? []).map(({ name }) => name)
      const all = [...(pod.initContainers ?? []), ...pod.containers]
      const asked = all.flatMap((one) => [...(one.volumeMounts ?? []), ...(one.volumeDevices ?? [])])
      expect([...new Set(asked.map(({ name }) => name))].sort()).toEqual([...volumes].sort())
      expect(new Set(volumes).size).toBe(volumes.length)
    }
  })

  it('is given the disks in one way only, and what a node says counts before what is said for all', () => {
    expect(chosen({ storage: { useAllDevices: true } })).toEqual({ ROOK_DATA_DEVICE_FILTER: 'all' })
    expect(chosen({ storage: { useAllDevices: true, deviceFilter: '^sd' } })).toEqual({
      ROOK_DATA_DEVICE_FILTER: '^sd',
    })
    expect(chosen({ storage: { devicePathFilter: '/dev/disk/.*' } })).toEqual({
      ROOK_DATA_DEVICE_PATH_FILTER: '/dev/disk/.*',
    })
    const devices = [{ name: 'sdb', config: { osdsPerDevice: '2', encryptedDevice: 'true' } }, { fullpath: '/dev/x' }]
    expect(chosen({ storage: { useAllDevices: true, nodes: [{ name: 'a', devices }] } })).toEqual({
      ROOK_DATA_DEVICES: JSON.stringify([
        { id: 'sdb', storeConfig: { osdsPerDevice: 2, encryptedDevice: true } },
        { id: '/dev/x', storeConfig: { osdsPerDevice: 1 } },
      ]),
    })
    expect(chosen({})).toEqual({})
  })

  it('on a claim goes wherever the volume can, with the device handed on to it', () => {
    const set = { name: 'set1', count: 1, portable: true, volumeClaimTemplates: [{ metadata: {}, spec: {} }] }
    const place = { name: 'set1-data-0', asked: '4', claim: { set: 'set1', index: 0, isMissing: true } }
    const spec = { storage: { storageClassDeviceSets: [set] } }
    const job = buildPrepareJob(cluster(spec), place, run)
    const pod = job.spec.template.spec
    expect(job.metadata.labels).toMatchObject({ 'ceph.rook.io/pvc': 'set1-data-0', 'ceph.rook.io/DeviceSet': 'set1' })
    expect([pod.nodeSelector, pod.initContainers?.map(({ name }) => name)]).toEqual([
      undefined,
      ['copy-bins', 'blkdevmapper'],
    ])
    expect(variables(pod)).toMatchObject({
      ROOK_PVC_BACKED_OSD: 'true',
      ROOK_PVC_NAME: 'set1-data-0',
      ROOK_DATA_DEVICES: JSON.stringify([{ id: '/mnt/set1-data-0', storeConfig: { osdsPerDevice: 1 } }]),
    })
    expect(buildClaim(cluster(spec), place)?.metadata.labels).toEqual({
      'ceph.rook.io/DeviceSet': 'set1',
      'ceph.rook.io/DeviceSetPVCId': 'set1-data-0',
      'ceph.rook.io/setIndex': '0',
    })
  })

  it('gets what the CephCluster says of it: without, it would wait for a node, or be evicted first', () => {
    const resources = { limits: { memory: '1Gi' } }
    const tolerations = [{ key: 'storage', operator: 'Exists' as const }]
    const spec = {
      resources: { prepareosd: resources },
      placement: { all: { tolerations }, prepareosd: { tolerations: [{ key: 'disk', operator: 'Exists' as const }] } },
      priorityClassNames: { osd: 'high' },
      network: { provider: 'host' },
    }
    const podOf = (more: CephCluster['spec'] = {}) =>
      buildPrepareJob(cluster({ ...spec, ...more }), { name: 'a', asked: '4' }, run).spec.template.spec
    const { containers, initContainers, ...pod } = podOf()
    expect([containers[0]?.resources, initContainers?.[0]?.resources]).toEqual([resources, resources])
    expect(pod).toMatchObject({
      tolerations: [...tolerations, { key: 'disk', operator: 'Exists' }],
      priorityClassName: 'high',
      hostNetwork: true,
      dnsPolicy: 'ClusterFirstWithHostNet',
    })
    expect(podOf({ storage: { onlyApplyOSDPlacement: true } }).tolerations).toEqual([
      { key: 'disk', operator: 'Exists' },
    ])
  })

  it('says nothing of a release that it does not know: a wrong one would make a disk that Ceph cannot open', () => {
    const versionOf = (version: string | undefined) => {
      const { status: _, ...bare } = cluster()
      const given = version === undefined ? bare : { ...bare, status: { version: { version } } }
      return variables(buildPrepareJob(given, { name: 'a', asked: '4' }, run).spec.template.spec)['ROOK_CEPH_VERSION']
    }
    expect([versionOf(undefined), versionOf('99.1.0'), versionOf('20.2.0-0')]).toEqual([
      undefined,
      undefined,
      'ceph version 20.2.0-0 tentacle',
    ])
  })

  it('hands on settings of a disk that it does not know, as they are', () => {
    const devices = [{ name: 'sdb', config: { metadataDevice: 'nvme0n1', databaseSizeMB: '1024' } }]
    expect(chosen({ storage: { devices } })).toEqual({
      ROOK_DATA_DEVICES: JSON.stringify([
        { id: 'sdb', storeConfig: { osdsPerDevice: 1, metadataDevice: 'nvme0n1', databaseSizeMB: 1024 } },
      ]),
    })
  })

  it('has a claim with the class and the notes of its template; none where the set is gone', () => {
    const annotations = { crushDeviceClass: 'ssd' }
    const template = { metadata: { annotations, labels: { team: 'storage' } } }
    const spec = { storage: { storageClassDeviceSets: [{ name: 'set1', count: 1, volumeClaimTemplates: [template] }] } }
    const bare = { storage: { storageClassDeviceSets: [{ name: 'set1', count: 1, volumeClaimTemplates: [{}] }] } }
    const place = { name: 'set1-data-0', asked: '4', claim: { set: 'set1', index: 0, isMissing: true } }
    expect(buildClaim(cluster(spec), place)?.metadata).toMatchObject({ annotations, labels: { team: 'storage' } })
    expect(buildClaim(cluster(bare), place)?.metadata.annotations).toBeUndefined()
    expect(variables(buildPrepareJob(cluster(spec), place, run).spec.template.spec)).toMatchObject({
      ROOK_OSD_CRUSH_DEVICE_CLASS: 'ssd',
      ROOK_CRUSHMAP_HOSTNAME: '',
    })
    expect([buildClaim(cluster(), place), buildClaim(cluster(spec), { name: 'a', asked: '4' })]).toEqual([
      undefined,
      undefined,
    ])
  })

  it('has a hash in its name where that of the place is too long, as has its status', () => {
    const long = `node-${'x'.repeat(60)}.example`
    expect([prepareJobName('node-a'), statusMapName('node-a')]).toEqual([
      'rook-ceph-osd-prepare-node-a',
      'rook-ceph-osd-node-a-status',
    ])
    expect(prepareJobName(long)).toMatch(/^rook-ceph-osd-prepare-[0-9a-f]{32}$/)
    expect(statusMapName(long)).toMatch(/^rook-ceph-osd-[0-9a-f]{32}-status$/)
    const status = buildStartingStatus(cluster(), { name: long, asked: '4' }, run)
    expect([status.metadata.labels?.['node'], status.metadata.annotations?.['cofferdam.io/place']]).toEqual([
      undefined,
      long,
    ])
  })
})
