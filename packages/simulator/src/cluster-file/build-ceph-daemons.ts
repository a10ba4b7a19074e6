import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Container, PodSpec } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject, OwnerReference } from '@cofferdam/kubernetes/api/kube-object.ts'
import { cephImage, filesystemMirrorName, rbdMirrorName } from './build-ceph-resources.ts'
import type { CephClusterDescription } from './describe-ceph.ts'
import type { OsdPlace } from './osd-place.ts'

export interface DaemonOptions {
  /** What Rook's operator would own the daemons by: the CephCluster, a CephFilesystem ... as the cluster holds it. */
  readonly ownerOf: (kind: string, name: string) => KubeObject
  readonly terminationSeconds: number
}

interface Daemon {
  readonly type: string
  readonly id: string
  readonly name: string
  readonly replicas?: number
  readonly owner: { readonly kind: string; readonly plural: string; readonly name: string }
  /** Labels besides those that every daemon has. */
  readonly labels?: Readonly<Record<string, string>>
  readonly selector?: Readonly<Record<string, string>>
  /** Undefined: anywhere, but away from its like. */
  readonly node?: string
  /** Of its container, besides name and image. */
  readonly settings?: Pick<Container, 'args' | 'env'>
}

/** All daemons as Rook deploys them: names, labels, strategy and places. Rook's own operator is not among them. */
export function buildCephDaemons(ceph: CephClusterDescription, options: DaemonOptions): Deployment[] {
  return describeDaemons(ceph).map((daemon) => buildDaemon(daemon, ceph, options))
}

function describeDaemons(ceph: CephClusterDescription): Daemon[] {
  const owner = { kind: 'CephCluster', plural: 'cephclusters', name: ceph.name }
  return [
    ...ceph.monNodes.map((node, index) => {
      const id = letters(index)
      return { type: 'mon', id, name: `mon-${id}`, owner, node, labels: { mon_cluster: ceph.namespace } }
    }),
    ...range(ceph.mgrs).map((index) => {
      const id = letters(index)
      return { type: 'mgr', id, name: `mgr-${id}`, owner, labels: { instance: id } }
    }),
    ...ceph.osds.map((osd) => ({
      type: 'osd',
      id: String(osd.id),
      name: `osd-${osd.id}`,
      owner,
      node: osd.node,
      labels: osdLabels(osd, ceph),
      settings: osdSettings(osd, ceph),
      selector: { app: 'rook-ceph-osd', rook_cluster: ceph.namespace, 'ceph-osd-id': String(osd.id) },
    })),
    // For every active MDS Rook runs a second one, whether it follows closely or not.
    ...ceph.filesystems.flatMap(({ name: fs, active }) =>
      range(2 * active).map((index) => {
        const id = `${fs}-${letters(index)}`
        const by = { kind: 'CephFilesystem', plural: 'cephfilesystems', name: fs }
        return { type: 'mds', id, name: `mds-${id}`, owner: by, labels: { rook_file_system: fs } }
      }),
    ),
    ...ceph.objectStores.map(({ name: store, instances }) => ({
      type: 'rgw',
      id: store,
      name: `rgw-${store}-a`,
      replicas: instances,
      owner: { kind: 'CephObjectStore', plural: 'cephobjectstores', name: store },
      labels: { rook_object_store: store },
    })),
    ...(ceph.rbdMirrors === 0 ? [] : [rbdMirror(ceph)]),
    ...ceph.nfs.flatMap(({ name: nfs, active }) =>
      range(active).map((index) => {
        const id = `${nfs}-${letters(index)}`
        const by = { kind: 'CephNFS', plural: 'cephnfses', name: nfs }
        return { type: 'nfs', id, name: `nfs-${id}`, owner: by, labels: { ceph_nfs: nfs, instance: letters(index) } }
      }),
    ),
    ...ceph.nvmeof.flatMap(({ name: gateway, instances }) =>
      range(instances).map((index) => {
        const id = `${gateway}-${letters(index)}`
        const by = { kind: 'CephNVMeOFGateway', plural: 'cephnvmeofgateways', name: gateway }
        return { type: 'nvmeof', id, name: `nvmeof-${id}`, owner: by }
      }),
    ),
    ...(ceph.filesystemMirrors === 0 ? [] : [filesystemMirror(ceph)]),
  ]
}

function rbdMirror({ rbdMirrors }: CephClusterDescription): Daemon {
  return {
    type: 'rbd-mirror',
    id: 'a',
    name: 'rbd-mirror-a',
    replicas: rbdMirrors,
    owner: { kind: 'CephRBDMirror', plural: 'cephrbdmirrors', name: rbdMirrorName },
  }
}

function filesystemMirror({ filesystemMirrors }: CephClusterDescription): Daemon {
  return {
    type: 'fs-mirror',
    id: 'fs-mirror',
    name: 'fs-mirror',
    replicas: filesystemMirrors,
    owner: { kind: 'CephFilesystemMirror', plural: 'cephfilesystemmirrors', name: filesystemMirrorName },
  }
}

function osdLabels({ id, location }: OsdPlace, { deviceClass }: CephClusterDescription): Record<string, string> {
  return {
    'ceph-osd-id': String(id),
    'failure-domain': location.host,
    portable: 'false',
    'device-class': deviceClass,
    'osd-store': 'bluestore',
    encrypted: 'false',
    ...Object.fromEntries(Object.entries(location).map(([type, name]) => [`topology-location-${type}`, name])),
  }
}

/** What Rook reads back of an OSD that it has deployed, before it deploys it anew. */
function osdSettings(
  { id, location }: OsdPlace,
  { deviceClass }: CephClusterDescription,
): Pick<Container, 'args' | 'env'> {
  const env = {
    ROOK_OSD_UUID: `00000000-0000-4000-8000-${String(id).padStart(12, '0')}`,
    ROOK_BLOCK_PATH: `/dev/osd-${id}`,
    ROOK_CV_MODE: 'raw',
    ROOK_OSD_DEVICE_CLASS: deviceClass,
  }
  const place = Object.entries(location).map(([type, name]) => `${type}=${name}`)
  return {
    args: [`--crush-location=${place.join(' ')}`],
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
  }
}

function buildDaemon(daemon: Daemon, ceph: CephClusterDescription, options: DaemonOptions): Deployment {
  const { type, id, owner } = daemon
  const { namespace } = ceph
  const app = `rook-ceph-${type}`
  const identity = { app, rook_cluster: namespace, ceph_daemon_id: id, [type]: id }
  const labels = {
    ...identity,
    ceph_daemon_type: type,
    'app.kubernetes.io/name': `ceph-${type}`,
    'app.kubernetes.io/instance': id,
    'app.kubernetes.io/component': `${owner.plural}.ceph.rook.io`,
    'app.kubernetes.io/part-of': owner.name,
    'app.kubernetes.io/managed-by': 'rook-ceph-operator',
    'app.kubernetes.io/created-by': 'rook-ceph-operator',
    'rook.io/operator-namespace': namespace,
    ...daemon.labels,
  }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: `rook-ceph-${daemon.name}`,
      namespace,
      labels: { ...labels, 'rook-version': 'v1.18.8', 'ceph-version': '16.2.15-0' },
      ownerReferences: [ownerReference(options.ownerOf(owner.kind, owner.name))],
    },
    spec: {
      replicas: daemon.replicas ?? 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: daemon.selector ?? identity },
      template: {
        metadata: { labels },
        spec: {
          containers: [{ name: type, image: cephImage, ...daemon.settings }],
          ...placeOf(daemon, app),
          terminationGracePeriodSeconds: options.terminationSeconds,
        },
      },
    },
  }
}

function placeOf({ node }: Daemon, app: string): Partial<PodSpec> {
  if (node !== undefined) return { nodeSelector: { 'kubernetes.io/hostname': node } }
  const away = (weight: number, topologyKey: string) => ({
    weight,
    podAffinityTerm: { labelSelector: { matchLabels: { app } }, topologyKey },
  })
  return {
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          away(100, 'kubernetes.io/hostname'),
          away(50, 'topology.kubernetes.io/zone'),
        ],
      },
    },
  }
}

function ownerReference({ apiVersion, kind, metadata }: KubeObject): OwnerReference {
  const { name, uid = '' } = metadata
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
}

function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index)
}

/** As Rook counts daemons: a, b ... z, aa, ab ... */
export function letters(index: number): string {
  const last = String.fromCharCode(97 + (index % 26))
  return index < 26 ? last : letters(Math.floor(index / 26) - 1) + last
}
