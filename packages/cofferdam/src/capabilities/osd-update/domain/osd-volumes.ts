import type { Container, Volume, VolumeMount } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'

export interface Mounted {
  readonly volume: Volume
  readonly mount: VolumeMount
}

const claimVolume = 'osd-claim'
const bridgeVolume = 'osd-bridge'

export const privileged: NonNullable<Container['securityContext']> = {
  privileged: true,
  runAsUser: 0,
  runAsNonRoot: false,
  readOnlyRootFilesystem: false,
}

/** Logs, crash reports and sockets, which outlive the pod on the node. */
export function keptFolders(cluster: CephCluster): Mounted[] {
  const own = `${dataFolder(cluster)}/${cluster.metadata.namespace}`
  return [
    onHost('rook-ceph-log', `${own}/log`, '/var/log/ceph'),
    onHost('rook-ceph-crash', `${own}/crash`, '/var/lib/ceph/crash'),
    onHost('ceph-daemons-sock-dir', `${dataFolder(cluster)}/exporter`, '/run/ceph'),
  ]
}

/** ceph.conf as users override it. */
export const configOverride: Mounted = {
  volume: {
    name: 'rook-config-override',
    configMap: { name: 'rook-config-override', items: [{ key: 'config', path: 'ceph.conf', mode: 0o444 }] },
  },
  mount: { name: 'rook-config-override', mountPath: '/etc/ceph', readOnly: true },
}

/** ceph.conf as Rook's program writes it. */
export const ownConfig: Mounted = {
  volume: { name: 'ceph-conf-emptydir', emptyDir: {} },
  mount: { name: 'ceph-conf-emptydir', mountPath: '/etc/ceph' },
}

export const adminSecret: Mounted = {
  volume: {
    name: 'ceph-admin-secret',
    secret: { secretName: 'rook-ceph-mon', items: [{ key: 'ceph-secret', path: 'secret.keyring' }] },
  },
  mount: { name: 'ceph-admin-secret', mountPath: '/var/lib/rook-ceph-mon', readOnly: true },
}

export const devices: Mounted = given('devices', '/dev', '/dev')
export const udev: Mounted = given('run-udev', '/run/udev', '/run/udev')
export const hostFiles: Mounted = {
  volume: { name: 'rootfs', hostPath: { path: '/' } },
  mount: { name: 'rootfs', mountPath: '/rootfs', readOnly: true },
}

export function rookData(cluster: CephCluster): Mounted {
  return onHost('rook-data', dataFolder(cluster), '/var/lib/rook')
}

export function onHost(name: string, path: string, mountPath: string): Mounted {
  return { volume: { name, hostPath: { path, type: 'DirectoryOrCreate' } }, mount: { name, mountPath } }
}

export function dataFolder({ spec }: CephCluster): string {
  return spec?.dataDirHostPath || '/var/lib/rook'
}

export function volumesOf(mounted: readonly Mounted[]): readonly Volume[] {
  return mounted.map(({ volume }) => volume)
}

export function mountsOf(mounted: readonly Mounted[]): readonly VolumeMount[] {
  return mounted.map(({ mount }) => mount)
}

/**
 * A raw volume reaches a privileged container only by a copy of its device node: one container that has the volume makes it, in a
 * folder that the others see.
 */
export interface ClaimBridge {
  readonly volumes: readonly [claimed: Volume, folder: Volume]
  readonly mount: VolumeMount
  /** Where the others find the device. */
  readonly device: string
  readonly copier: Container
}

export function claimBridge(given: {
  readonly claim: string
  readonly image: string | undefined
  readonly folder: Volume
  readonly mount: VolumeMount
  readonly device: string
}): ClaimBridge {
  const { claim, image, folder, device } = given
  const source = `/${claim}`
  const mount = { ...given.mount, name: folder.name }
  return {
    volumes: [{ name: claimVolume, persistentVolumeClaim: { claimName: claim } }, folder],
    mount,
    device,
    copier: {
      name: 'blkdevmapper',
      ...(image !== undefined && { image }),
      command: ['/bin/bash', '-c', copyDevice],
      args: ['copy-device', source, device],
      volumeDevices: [{ name: claimVolume, devicePath: source }],
      volumeMounts: [mount],
    },
  }
}

/** The number of a device may change from one start to the next; a copy that is still right stays, for an OSD may have it open. */
const copyDevice = `set -e
number() { stat --dereference --format '%t:%T' "$1"; }
if [ ! -b "$2" ] || [ "$(number "$1")" != "$(number "$2")" ]; then
  cp --archive --dereference --remove-destination "$1" "$2"
fi`

export function bridgeFolder(path: string | undefined): Volume {
  return path === undefined
    ? { name: bridgeVolume, emptyDir: { medium: 'Memory' } }
    : { name: bridgeVolume, hostPath: { path, type: 'DirectoryOrCreate' } }
}

function given(name: string, path: string, mountPath: string): Mounted {
  return { volume: { name, hostPath: { path } }, mount: { name, mountPath } }
}
