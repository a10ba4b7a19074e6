import type { EnvVar } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'

/** What Rook's program and its pods find out about their cluster by; the names are Rook's. */
export function clusterEnvironment({ metadata }: CephCluster, place: string): EnvVar[] {
  const { namespace = '', name, uid = '' } = metadata
  return [
    { name: 'ROOK_NODE_NAME', value: place },
    { name: 'ROOK_CLUSTER_ID', value: uid },
    { name: 'ROOK_CLUSTER_NAME', value: name },
    { name: 'ROOK_PRIVATE_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
    { name: 'ROOK_PUBLIC_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
    { name: 'POD_NAMESPACE', value: namespace },
    {
      name: 'ROOK_MON_ENDPOINTS',
      valueFrom: { configMapKeyRef: { name: 'rook-ceph-mon-endpoints', key: 'data' } },
    },
    { name: 'ROOK_CONFIG_DIR', value: '/var/lib/rook' },
    { name: 'ROOK_CEPH_CONFIG_OVERRIDE', value: '/etc/rook/config/override.conf' },
    { name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
    { name: 'ROOK_CRUSHMAP_ROOT', value: 'default' },
    fsidVariable,
    ...volumeToolEnvironment,
  ]
}

const fsidVariable: EnvVar = {
  name: 'ROOK_FSID',
  valueFrom: { secretKeyRef: { name: 'rook-ceph-mon', key: 'fsid' } },
}

/** ceph-volume in a container: no udev to wait for, and no SELinux labels to mend. */
const volumeToolEnvironment: readonly EnvVar[] = [
  { name: 'CEPH_VOLUME_DEBUG', value: '1' },
  { name: 'CEPH_VOLUME_SKIP_RESTORECON', value: '1' },
  { name: 'DM_DISABLE_UDEV', value: '1' },
]

/** Where the monitors are, for programs of Ceph. */
export const monitorEnvironment: readonly EnvVar[] = [
  ...['mon_host', 'mon_initial_members'].map((key) => ({
    name: `ROOK_CEPH_${key.toUpperCase()}`,
    valueFrom: { secretKeyRef: { name: 'rook-ceph-config', key } },
  })),
  { name: 'CEPH_ARGS', value: '-m $(ROOK_CEPH_MON_HOST)' },
]

/** By these an OSD sets how much memory it keeps to. */
export const amountEnvironment: readonly EnvVar[] = ['limits', 'requests'].flatMap((kind) =>
  ['memory', 'cpu'].map((what) => ({
    name: `POD_${what.toUpperCase()}_${kind === 'limits' ? 'LIMIT' : 'REQUEST'}`,
    valueFrom: { resourceFieldRef: { resource: `${kind}.${what}` } },
  })),
)

/** What users may set for all OSDs of a cluster. */
export const overridable = { envFrom: [{ configMapRef: { name: 'rook-ceph-osd-env-override', optional: true } }] }
