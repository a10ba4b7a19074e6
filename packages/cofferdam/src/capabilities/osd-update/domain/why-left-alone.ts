import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { pinnedHostname } from '../../../shared/node-hostnames.ts'
import { doNotReconcile, paceHoldOf } from './pace-label.ts'

const replaceInProgress = 'osd.rook.io/replace-in-progress'
const replaceAsked = 'ceph.rook.io/replace-osd'
const migrationWord = 'yes-really-migrate-osds'
const storeWord = 'yes-really-update-store'

/** Why an OSD is not ours to update, or undefined. `node`: the name of its node, where that is known. */
export function whyLeftAlone(deployment: Deployment, cluster: CephCluster, node?: string): string | undefined {
  const isStopped = deployment.spec.replicas === 0
  return (
    whySpokenFor(deployment, cluster) ??
    (isStopped ? 'its Deployment is scaled to zero' : whyNotInSpec(deployment, cluster, node))
  )
}

/** Why nobody else may touch it at all: somebody has something in mind with this OSD. */
export function whySpokenFor(deployment: Deployment, cluster: CephCluster): string | undefined {
  if (paceHoldOf(deployment) === 'theirs') return `its Deployment has the label ${doNotReconcile}`
  return whyAnew(deployment, cluster)
}

/** Why the OSD is about to be made anew: Rook does that on ways of its own, and must not be held. */
export function whyAnew(deployment: Deployment, cluster: CephCluster): string | undefined {
  const { annotations } = deployment.metadata
  if (annotations?.[replaceInProgress] === 'true') return 'it is being replaced'
  if (annotations?.[replaceAsked] === 'yes') return `it waits for its replacement (annotation ${replaceAsked})`
  return whyMigrated(deployment, cluster)
}

/** An OSD that is about to be made anew on its disk: an update before that would stop it for nothing. */
function whyMigrated({ metadata }: Deployment, { spec }: CephCluster): string | undefined {
  const { migration, store, storageClassDeviceSets = [] } = spec?.storage ?? {}
  if (migration?.confirmation !== migrationWord && store?.updateStore !== storeWord) return undefined
  const { labels = {} } = metadata
  const wantedStore = store?.type === undefined || store.type === '' ? 'bluestore' : store.type
  const hasStore = labels['osd-store']
  if (hasStore !== undefined && hasStore !== wantedStore)
    return `it waits for its migration from ${hasStore} to ${wantedStore}`
  const set = storageClassDeviceSets.find(({ name }) => name === labels['ceph.rook.io/DeviceSet'])
  if (set === undefined) return undefined
  const isEncrypted = labels['encrypted'] === 'true'
  if ((set.encrypted ?? false) === isEncrypted) return undefined
  return `it waits for its migration: device set ${set.name} is to be ${isEncrypted ? 'without encryption' : 'encrypted'}`
}

/** Rook takes the hostname of a node there, and its name as well. */
function whyNotInSpec(deployment: Deployment, cluster: CephCluster, node: string | undefined): string | undefined {
  const { useAllNodes, nodes } = cluster.spec?.storage ?? {}
  const hostname = pinnedHostname(deployment)
  const isOnVolume = deployment.metadata.labels?.['ceph.rook.io/pvc'] !== undefined
  if (hostname === undefined || isOnVolume || useAllNodes === true || nodes === undefined) return undefined
  if (nodes.some(({ name }) => name === hostname || name === node)) return undefined
  return `its node ${node ?? hostname} is no longer in spec.storage.nodes`
}
