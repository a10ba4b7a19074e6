import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import { describe, expect, it } from 'vitest'
import { buildCephDaemons, letters } from './build-ceph-daemons.ts'
import { buildCephCluster, buildCephResources, buildCephStatus } from './build-ceph-resources.ts'
import { parseClusterFile } from './cluster-file.ts'
import type { CephClusterDescription } from './describe-ceph.ts'

const { ceph } = parseClusterFile(
  `
zones: [{ name: x, racks: [rack-1] }, { name: y }, { name: z }]
nodes: [{ name: "node-{zone}" }]
ceph:
  osds: { perNode: 2, deviceClass: nvme }
  pools:
    - { name: replicapool, failureDomain: zone, replicated: { size: 3, minSize: 2 } }
    - { name: ec-pool, failureDomain: zone, erasure: { data: 2, coding: 1 } }
    - { name: .mgr }
    - { name: by-hand, toolbox: true }
  filesystems: [{ name: myfs, active: 2, standby: false }]
  objectStores: [{ name: my-store, instances: 2 }]
  rbdMirrors: 3
  nfs: [{ name: my-nfs, active: 2 }]
  nvmeof: [{ name: blocks, instances: 2 }]
  filesystemMirrors: 1
  disruptionManagement: { osdMaintenanceTimeout: 45 }
`,
  'my.yaml',
) as { ceph: CephClusterDescription }

const daemons = buildCephDaemons(ceph, {
  ownerOf: (kind, name) => ({ apiVersion: 'ceph.rook.io/v1', kind, metadata: { name, uid: `uid of ${kind} ${name}` } }),
  terminationSeconds: 3,
})

describe('the daemons are deployed as Rook deploys them', () => {
  it('each under its name, as often as asked for, owned by the object that asks for it', () => {
    const lines = daemons.map(({ metadata, spec }) => {
      const owner = metadata.ownerReferences?.[0]
      return `${metadata.name} x${spec.replicas} of ${owner?.kind} ${owner?.name}`
    })
    expect(lines).toEqual([
      'rook-ceph-mon-a x1 of CephCluster rook-ceph',
      'rook-ceph-mon-b x1 of CephCluster rook-ceph',
      'rook-ceph-mon-c x1 of CephCluster rook-ceph',
      'rook-ceph-mgr-a x1 of CephCluster rook-ceph',
      'rook-ceph-mgr-b x1 of CephCluster rook-ceph',
      'rook-ceph-osd-0 x1 of CephCluster rook-ceph',
      'rook-ceph-osd-1 x1 of CephCluster rook-ceph',
      'rook-ceph-osd-2 x1 of CephCluster rook-ceph',
      'rook-ceph-osd-3 x1 of CephCluster rook-ceph',
      'rook-ceph-osd-4 x1 of CephCluster rook-ceph',
      'rook-ceph-osd-5 x1 of CephCluster rook-ceph',
      'rook-ceph-mds-myfs-a x1 of CephFilesystem myfs',
      'rook-ceph-mds-myfs-b x1 of CephFilesystem myfs',
      'rook-ceph-mds-myfs-c x1 of CephFilesystem myfs',
      'rook-ceph-mds-myfs-d x1 of CephFilesystem myfs',
      'rook-ceph-rgw-my-store-a x2 of CephObjectStore my-store',
      'rook-ceph-rbd-mirror-a x3 of CephRBDMirror my-rbd-mirror',
      'rook-ceph-nfs-my-nfs-a x1 of CephNFS my-nfs',
      'rook-ceph-nfs-my-nfs-b x1 of CephNFS my-nfs',
      'rook-ceph-nvmeof-blocks-a x1 of CephNVMeOFGateway blocks',
      'rook-ceph-nvmeof-blocks-b x1 of CephNVMeOFGateway blocks',
      'rook-ceph-fs-mirror x1 of CephFilesystemMirror my-fs-mirror',
    ])
  })

  it('an OSD with every label that tells where it is, on the Deployment and on its pods, tied to its node', () => {
    const labels = {
      app: 'rook-ceph-osd',
      rook_cluster: 'rook-ceph',
      ceph_daemon_type: 'osd',
      ceph_daemon_id: '1',
      osd: '1',
      'ceph-osd-id': '1',
      'failure-domain': 'node-x',
      portable: 'false',
      'device-class': 'nvme',
      'osd-store': 'bluestore',
      encrypted: 'false',
      'topology-location-root': 'default',
      'topology-location-zone': 'x',
      'topology-location-rack': 'rack-1',
      'topology-location-host': 'node-x',
      'app.kubernetes.io/name': 'ceph-osd',
      'app.kubernetes.io/instance': '1',
      'app.kubernetes.io/component': 'cephclusters.ceph.rook.io',
      'app.kubernetes.io/part-of': 'rook-ceph',
      'app.kubernetes.io/managed-by': 'rook-ceph-operator',
      'app.kubernetes.io/created-by': 'rook-ceph-operator',
      'rook.io/operator-namespace': 'rook-ceph',
    }
    expect(daemons.find(({ metadata }) => metadata.name === 'rook-ceph-osd-1')).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        name: 'rook-ceph-osd-1',
        namespace: 'rook-ceph',
        labels: { ...labels, 'rook-version': 'v1.18.8', 'ceph-version': '16.2.15-0' },
        ownerReferences: [
          {
            apiVersion: 'ceph.rook.io/v1',
            kind: 'CephCluster',
            name: 'rook-ceph',
            uid: 'uid of CephCluster rook-ceph',
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: {
        replicas: 1,
        strategy: { type: 'Recreate' },
        selector: { matchLabels: { app: 'rook-ceph-osd', rook_cluster: 'rook-ceph', 'ceph-osd-id': '1' } },
        template: {
          metadata: { labels },
          spec: {
            containers: [
              {
                name: 'osd',
                image: 'registry.example/ceph/ceph:v19.2.3',
                // Without these Rook refuses to touch an OSD that it deployed itself.
                args: ['--crush-location=root=default zone=x rack=rack-1 host=node-x'],
                env: [
                  { name: 'ROOK_OSD_UUID', value: '00000000-0000-4000-8000-000000000001' },
                  { name: 'ROOK_BLOCK_PATH', value: '/dev/osd-1' },
                  { name: 'ROOK_CV_MODE', value: 'raw' },
                  { name: 'ROOK_OSD_DEVICE_CLASS', value: 'nvme' },
                ],
              },
            ],
            nodeSelector: { 'kubernetes.io/hostname': 'node-x' },
            terminationGracePeriodSeconds: 3,
          },
        },
      },
    })
  })

  it('pods with the labels that budgets select by', () => {
    const count = (matchLabels: Record<string, string>) =>
      daemons.filter(({ spec }) => isSelected({ matchLabels }, spec.template.metadata?.labels)).length
    expect({
      mon: count({ app: 'rook-ceph-mon' }),
      mgr: count({ app: 'rook-ceph-mgr' }),
      mds: count({ rook_file_system: 'myfs' }),
      rgw: count({ rgw: 'my-store' }),
      mirror: count({ app: 'rook-ceph-rbd-mirror' }),
      nfs: count({ ceph_nfs: 'my-nfs' }),
      zone: count({ 'topology-location-zone': 'y' }),
    }).toEqual({ mon: 3, mgr: 2, mds: 4, rgw: 1, mirror: 1, nfs: 2, zone: 2 })
  })

  it('no Deployment that takes the pods of another', () => {
    for (const { metadata, spec } of daemons) {
      const taken = daemons.filter((other) => isSelected(spec.selector, other.spec.template.metadata?.labels))
      expect(taken.map((other) => other.metadata.name)).toEqual([metadata.name])
    }
  })

  it('letters that go on after z', () => {
    expect([0, 25, 26, 27, 52].map(letters)).toEqual(['a', 'z', 'aa', 'ab', 'ba'])
  })
})

describe('the objects that describe the cluster to Rook', () => {
  it('a CephCluster with its counts, nodes and disruption settings', () => {
    expect(buildCephCluster(ceph)).toEqual({
      apiVersion: 'ceph.rook.io/v1',
      kind: 'CephCluster',
      metadata: { name: 'rook-ceph', namespace: 'rook-ceph' },
      spec: {
        cephVersion: { image: 'registry.example/ceph/ceph:v19.2.3' },
        dataDirHostPath: '/var/lib/rook',
        mon: { count: 3, allowMultiplePerNode: false },
        mgr: { count: 2, allowMultiplePerNode: false },
        disruptionManagement: { managePodBudgets: true, osdMaintenanceTimeout: 45 },
        storage: {
          useAllNodes: false,
          useAllDevices: true,
          nodes: [{ name: 'node-x' }, { name: 'node-y' }, { name: 'node-z' }],
        },
      },
    })
  })

  it('each said to be ready, with what its columns show', () => {
    const objects = [buildCephCluster(ceph), ...buildCephResources(ceph).map(({ object }) => object)]
    expect(objects.map((object) => [object.metadata.name, buildCephStatus(object)])).toEqual([
      ['rook-ceph', { phase: 'Ready', state: 'Created', message: 'Cluster created successfully' }],
      ['replicapool', { phase: 'Ready', info: { type: 'Replicated', failureDomain: 'zone' } }],
      ['ec-pool', { phase: 'Ready', info: { type: 'Erasure Coded', failureDomain: 'zone' } }],
      ['builtin-mgr', { phase: 'Ready', info: { type: 'Replicated', failureDomain: 'host' } }],
      ['myfs', { phase: 'Ready' }],
      ['my-store', { phase: 'Ready', info: { endpoint: 'http://rook-ceph-rgw-my-store.rook-ceph.svc:80' } }],
      ['my-rbd-mirror', { phase: 'Ready' }],
      ['my-nfs', { phase: 'Ready' }],
      ['blocks', { phase: 'Ready' }],
      ['my-fs-mirror', { phase: 'Ready' }],
    ])
  })

  it('one object for each pool but those made by hand, one for each filesystem, store, mirror and NFS', () => {
    const own = { failureDomain: 'host', replicated: { size: 3 } }
    const parameters = { min_size: '2' }
    expect(
      buildCephResources(ceph).map(({ type, object }) => ({
        [`${type.plural}/${object.metadata.name}`]: (object as unknown as { spec: unknown }).spec,
      })),
    ).toEqual([
      { 'cephblockpools/replicapool': { failureDomain: 'zone', replicated: { size: 3 }, parameters } },
      {
        'cephblockpools/ec-pool': {
          failureDomain: 'zone',
          erasureCoded: { dataChunks: 2, codingChunks: 1 },
          parameters,
        },
      },
      { 'cephblockpools/builtin-mgr': { name: '.mgr', ...own, parameters } },
      {
        'cephfilesystems/myfs': {
          metadataPool: own,
          dataPools: [{ name: 'replicated', ...own }],
          metadataServer: { activeCount: 2, activeStandby: false },
        },
      },
      {
        'cephobjectstores/my-store': { metadataPool: own, dataPool: own, gateway: { port: 80, instances: 2 } },
      },
      { 'cephrbdmirrors/my-rbd-mirror': { count: 3 } },
      { 'cephnfses/my-nfs': { server: { active: 2 } } },
      { 'cephnvmeofgateways/blocks': { pool: 'blocks', group: 'blocks', instances: 2 } },
      { 'cephfilesystemmirrors/my-fs-mirror': {} },
    ])
  })
})
