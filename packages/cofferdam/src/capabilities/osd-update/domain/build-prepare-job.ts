import type { Job } from '@cofferdam/kubernetes/api/apps.ts'
import type { ConfigMap, Container, PodSpec } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { OwnerReference } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PersistentVolumeClaim } from '@cofferdam/kubernetes/api/storage.ts'
import { claimLabels, deviceSetOf, type GrowthPlace } from './growth-places.ts'
import { prepareApp } from './growth-snapshot.ts'
import { overridable } from './osd-environment.ts'
import { joinPlacements, placedPod, type WantedPlacement } from './osd-placement.ts'
import {
  adminSecret,
  bridgeFolder,
  claimBridge,
  devices,
  hostFiles,
  keptFolders,
  mountsOf,
  ownConfig,
  privileged,
  rookData,
  udev,
  volumesOf,
} from './osd-volumes.ts'
import { provisionEnvironment } from './prepare-environment.ts'
import {
  generationAnnotation,
  nonceAnnotation,
  placeAnnotation,
  prepareJobName,
  statusMapName,
} from './prepare-status.ts'

const programs = {
  volume: { name: 'rook-binaries', emptyDir: {} },
  mount: { name: 'rook-binaries', mountPath: '/rook' },
}
const longestLabel = 63

export interface PrepareRun {
  readonly rookImage: string
  /** Token of this very Job: its result counts only with the same token. */
  readonly nonce: string
}

/** The Job that makes OSDs of the disks of one place, as Rook makes it; Rook's own program does the work in it. */
export function buildPrepareJob(cluster: CephCluster, place: GrowthPlace, { rookImage, nonce }: PrepareRun): Job {
  const { namespace = '' } = cluster.metadata
  const set = place.claim === undefined ? undefined : deviceSetOf(cluster, place.claim.set)
  const labels = {
    app: prepareApp,
    rook_cluster: namespace,
    ...(place.claim !== undefined && { [claimLabels.claim]: place.name, [claimLabels.set]: place.claim.set }),
  }
  const { spec } = cluster
  const wanted = (all: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined) => ({
    ...all?.['all'],
    ...all?.['prepareosd'],
  })
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: prepareJobName(place.name),
      namespace,
      labels,
      annotations: annotationsOf(place, nonce),
      ownerReferences: [ownedBy(cluster)],
    },
    spec: {
      template: {
        metadata: { labels: { ...wanted(spec?.labels), ...labels }, annotations: wanted(spec?.annotations) },
        spec: podSpec(cluster, place, {
          rookImage,
          placement: joinPlacements([
            spec?.storage?.onlyApplyOSDPlacement === true ? undefined : spec?.placement?.['all'],
            set?.preparePlacement ?? set?.placement ?? spec?.placement?.['prepareosd'],
          ]),
        }),
      },
    },
  }
}

/** Says that an inspection of the place begins; the Job writes its result over it. */
export function buildStartingStatus(
  cluster: CephCluster,
  place: GrowthPlace,
  { nonce }: Pick<PrepareRun, 'nonce'>,
): ConfigMap {
  const { namespace = '' } = cluster.metadata
  const status = { osds: [], status: 'starting', 'pvc-backed-osd': place.claim !== undefined, message: '' }
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: statusMapName(place.name),
      namespace,
      labels: {
        app: 'rook-ceph-osd',
        status: 'provisioning',
        ...(place.name.length <= longestLabel && { node: place.name }),
      },
      annotations: annotationsOf(place, nonce),
      ownerReferences: [ownedBy(cluster)],
    },
    data: { status: JSON.stringify(status) },
  }
}

/** The claim of one OSD of a device set; undefined where the set is gone. */
export function buildClaim(cluster: CephCluster, { name, claim }: GrowthPlace): PersistentVolumeClaim | undefined {
  const template = claim && deviceSetOf(cluster, claim.set)?.volumeClaimTemplates?.[0]
  if (claim === undefined || template === undefined) return undefined
  const { labels, annotations } = template.metadata ?? {}
  const { namespace = '' } = cluster.metadata
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      namespace,
      labels: {
        ...labels,
        [claimLabels.set]: claim.set,
        [claimLabels.id]: name,
        [claimLabels.index]: String(claim.index),
      },
      ...(annotations !== undefined && { annotations }),
      ownerReferences: [ownedBy(cluster)],
    },
    ...(template.spec !== undefined && { spec: template.spec }),
  }
}

/** It need not hold up the deletion of the cluster: to ask for that is a right of its own on some servers. */
export function ownedBy({ apiVersion, kind, metadata }: CephCluster): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '', controller: true }
}

function annotationsOf({ name, asked }: GrowthPlace, nonce: string): Record<string, string> {
  return { [generationAnnotation]: asked, [placeAnnotation]: name, [nonceAnnotation]: nonce }
}

function podSpec(
  cluster: CephCluster,
  place: GrowthPlace,
  given: { readonly rookImage: string; readonly placement: WantedPlacement },
): PodSpec {
  const { spec } = cluster
  const image = spec?.cephVersion?.image
  const resources = spec?.resources?.['prepareosd']
  const isHostNetwork = spec?.network?.hostNetwork === true || spec?.network?.provider === 'host'
  const onClaim = place.claim !== undefined
  const bridge = onClaim
    ? claimBridge({
        claim: place.name,
        image,
        folder: bridgeFolder(undefined),
        mount: { name: '', mountPath: '/mnt' },
        device: `/mnt/${place.name}`,
      })
    : undefined
  const mounted = [
    rookData(cluster),
    ownConfig,
    ...keptFolders(cluster),
    devices,
    udev,
    programs,
    adminSecret,
    ...(onClaim ? [] : [hostFiles]),
  ]
  const { tolerations = [] } = given.placement
  const provision: Container = {
    name: 'provision',
    ...(image !== undefined && { image }),
    command: ['/rook/rook'],
    args: ['ceph', 'osd', 'provision'],
    env: provisionEnvironment(cluster, place, bridge?.device),
    ...overridable,
    ...(resources !== undefined && { resources }),
    volumeMounts: [...mountsOf(mounted), ...(bridge === undefined ? [] : [bridge.mount])],
    securityContext: privileged,
  }
  const priorityClassName = spec?.priorityClassNames?.['osd'] ?? spec?.priorityClassNames?.['all']
  return {
    serviceAccountName: 'rook-ceph-osd',
    restartPolicy: 'OnFailure',
    ...(onClaim ? {} : { nodeSelector: { 'kubernetes.io/hostname': place.name } }),
    ...(onClaim && placedPod(given.placement)),
    ...(tolerations.length > 0 && { tolerations }),
    ...(priorityClassName !== undefined && { priorityClassName }),
    ...(isHostNetwork && { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }),
    initContainers: [
      {
        name: 'copy-bins',
        image: given.rookImage,
        args: ['copy-binaries', '--copy-to-dir', '/rook'],
        ...(resources !== undefined && { resources }),
        volumeMounts: [programs.mount],
      },
      ...(bridge === undefined ? [] : [bridge.copier]),
    ],
    containers: [provision],
    volumes: [...volumesOf(mounted), ...(bridge?.volumes ?? [])],
  }
}
