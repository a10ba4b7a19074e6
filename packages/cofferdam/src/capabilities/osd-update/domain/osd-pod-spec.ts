import type { Container, PodSpec, Toleration } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { type NewOsd, preparedPlace } from './new-osd.ts'
import { topologyAffinity } from './node-affinity.ts'
import { amountEnvironment, clusterEnvironment, monitorEnvironment, overridable } from './osd-environment.ts'
import {
  bridgeFolder,
  claimBridge,
  configOverride,
  dataFolder,
  devices,
  keptFolders,
  type Mounted,
  mountsOf,
  onHost,
  privileged,
  rookData,
  udev,
  volumesOf,
} from './osd-volumes.ts'

/** The pod of an OSD as Rook runs it: what makes its folder ready, then ceph-osd itself. Settings of the CephCluster come on top. */
export function buildOsdPodSpec(cluster: CephCluster, osd: NewOsd): PodSpec {
  const { spec } = cluster
  const image = spec?.cephVersion?.image
  const isHostNetwork = spec?.network?.hostNetwork === true || spec?.network?.provider === 'host'
  const data = osd.pvc === undefined ? diskParts(cluster, osd) : claimParts(cluster, osd, osd.pvc)
  const shared: Mounted[] = [...keptFolders(cluster), configOverride, udev, ...data.mounted]
  const mounts = mountsOf(shared)
  const nodeAffinity = osd.node === undefined ? topologyAffinity(osd.topology) : undefined
  const main: Container = {
    name: 'osd',
    ...(image !== undefined && { image }),
    command: ['ceph-osd'],
    args: daemonArguments(cluster, osd),
    workingDir: '/var/log/ceph',
    env: osdEnvironment(cluster, osd),
    ...overridable,
    volumeMounts: mounts,
    securityContext: privileged,
    ...probes(osd.id),
  }
  return {
    ...(osd.node !== undefined && { nodeSelector: { 'kubernetes.io/hostname': osd.node } }),
    ...(nodeAffinity !== undefined && { affinity: { nodeAffinity } }),
    restartPolicy: 'Always',
    serviceAccountName: 'rook-ceph-osd',
    ...(isHostNetwork && { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }),
    ...(osd.isEncrypted === true && { hostIPC: true }),
    initContainers: [
      ...data.initContainers,
      {
        name: 'chown-container-data-dir',
        ...(image !== undefined && { image }),
        command: ['chown'],
        args: ['--recursive', 'ceph:ceph', '/var/log/ceph', '/var/lib/ceph/crash', '/run/ceph', ...data.toOwn],
        volumeMounts: mounts,
        securityContext: privileged,
      },
    ],
    containers: [main],
    volumes: [...volumesOf(shared), ...data.volumes],
    ...(osd.pvc !== undefined && osd.node === undefined && { tolerations: leaveSoon }),
  }
}

interface DataParts {
  readonly mounted: readonly Mounted[]
  readonly volumes: NonNullable<PodSpec['volumes']>
  readonly initContainers: readonly Container[]
  /** Folders that have to belong to Ceph's user. */
  readonly toOwn: readonly string[]
}

/** An OSD that can go elsewhere with its volume does so, rather than wait for its node. */
const leaveSoon: readonly Toleration[] = [
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 },
]

/** On the node, so that two pods of one OSD would meet at the same lock. */
function diskParts(cluster: CephCluster, osd: NewOsd): DataParts {
  const { metadata, status, spec } = cluster
  const image = spec?.cephVersion?.image
  const identity = `${status?.ceph?.fsid ?? metadata.uid}_${osd.uuid ?? osd.id}`
  const folder = onHost('activate-osd', `${dataFolder(cluster)}/${metadata.namespace}/${identity}`, osdFolder(osd.id))
  const mounted = [folder, devices, rookData(cluster)]
  return {
    mounted,
    volumes: [],
    toOwn: [],
    initContainers: [
      {
        name: 'activate',
        ...(image !== undefined && { image }),
        command: ['ceph-volume', 'activate'],
        // By who it is and not by its disk, whose name may be another one after a reboot.
        args: [
          '--osd-id',
          String(osd.id),
          ...(osd.uuid === undefined ? [] : ['--osd-uuid', osd.uuid]),
          '--no-systemd',
          '--no-tmpfs',
        ],
        env: osdEnvironment(cluster, osd),
        volumeMounts: mountsOf([...mounted, configOverride, udev]),
        securityContext: privileged,
      },
    ],
  }
}

function claimParts(cluster: CephCluster, osd: NewOsd, claim: string): DataParts {
  const image = cluster.spec?.cephVersion?.image
  const folder = osdFolder(osd.id)
  const bridge = claimBridge({
    claim,
    image,
    folder: bridgeFolder(`${dataFolder(cluster)}/${cluster.metadata.namespace}/${claim}`),
    mount: { name: '', mountPath: folder, subPath: `ceph-${osd.id}` },
    device: `${folder}/block`,
  })
  const [claimed, bridged] = bridge.volumes
  const tool = (name: string, args: readonly string[]): Container => ({
    name,
    ...(image !== undefined && { image }),
    command: ['ceph-bluestore-tool'],
    args,
    volumeMounts: [bridge.mount],
    volumeDevices: [{ name: claimed.name, devicePath: bridge.device }],
    securityContext: privileged,
  })
  return {
    mounted: [{ volume: bridged, mount: bridge.mount }],
    volumes: [claimed],
    toOwn: [folder],
    initContainers: [
      bridge.copier,
      tool('activate', ['prime-osd-dir', '--dev', bridge.device, '--path', folder, '--no-mon-config']),
      // Where the volume has grown since.
      tool('expand-bluefs', ['bluefs-bdev-expand', '--path', folder]),
    ],
  }
}

function osdFolder(id: number): string {
  return `/var/lib/ceph/osd/ceph-${id}`
}

function daemonArguments({ status }: CephCluster, osd: NewOsd): string[] {
  const location = Object.entries(osd.location).map(([type, name]) => `${type}=${name}`)
  return [
    '--foreground',
    '--id',
    String(osd.id),
    '--fsid',
    status?.ceph?.fsid ?? '$(ROOK_FSID)',
    '--setuser',
    'ceph',
    '--setgroup',
    'ceph',
    `--crush-location=${location.join(' ')}`,
    '--default-log-to-stderr=true',
    '--default-err-to-stderr=true',
    '--default-log-to-file=false',
    '--ms-learn-addr-from-peer=false',
  ]
}

/** Rook reads most of these back when it takes a cluster over. */
function osdEnvironment(cluster: CephCluster, osd: NewOsd) {
  const own: Readonly<Record<string, string | undefined>> = {
    ROOK_OSD_ID: String(osd.id),
    ROOK_OSD_UUID: osd.uuid,
    ROOK_BLOCK_PATH: osd.blockPath,
    ROOK_CV_MODE: osd.mode ?? 'raw',
    ROOK_OSD_DEVICE_CLASS: osd.deviceClass,
    ROOK_OSD_STORE_TYPE: osd.store ?? 'bluestore',
    ROOK_PVC_BACKED_OSD: osd.pvc === undefined ? undefined : 'true',
    ROOK_TOPOLOGY_AFFINITY: osd.topology,
  }
  return [
    ...clusterEnvironment(cluster, preparedPlace(osd)),
    ...amountEnvironment,
    ...monitorEnvironment,
    ...Object.entries(own).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }])),
  ]
}

/** An OSD may replay its journal for hours before it answers. */
function probes(id: number): Pick<Container, 'startupProbe' | 'livenessProbe'> {
  const ask = `ceph --admin-daemon /run/ceph/ceph-osd.${id}.asok status`
  const exec = { command: ['env', '-i', 'sh', '-c', ask] }
  return {
    startupProbe: { exec, initialDelaySeconds: 10, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 720 },
    livenessProbe: { exec, initialDelaySeconds: 10, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 },
  }
}
