import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import {
  longhornSettings,
  longhornVolumeAttachments,
  longhornVolumes,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, type ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { customResourceDefinitions, namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import { persistentVolumeClaims } from '@cofferdam/kubernetes/api/storage.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { ticketTypes } from '../world/longhorn/attachment-tickets.ts'
import { firstSettings } from '../world/longhorn/longhorn-description.ts'
import { buildAttachment, buildVolume } from '../world/longhorn/volume-objects.ts'
import {
  accessModes,
  buildClaim,
  buildLonghornDescription,
  buildPersistentVolume,
  buildSettings,
  buildStorageClasses,
  persistentVolumes,
  storageClasses,
} from './build-longhorn.ts'
import type { LonghornClusterDescription } from './describe-longhorn.ts'
import { longhornDefinitions } from './longhorn-definitions.ts'
import { exactSize } from './size-text.ts'

const fieldManager = 'longhorn'
/** The ticket that Longhorn's UI writes when somebody attaches a volume there. */
const byHand = 'longhorn-ui'

/**
 * Creates Longhorn's kinds, settings, volumes and the claims on them. What is there stays as it is.
 *
 * `definitions`: `present` where Longhorn's own are in the cluster already, in whatever version; then none is added to them.
 */
export async function seedLonghorn(
  api: KubeApi,
  longhorn: LonghornClusterDescription,
  { definitions = 'made' }: { readonly definitions?: 'made' | 'present' } = {},
): Promise<void> {
  for (const definition of definitions === 'made' ? longhornDefinitions() : [])
    await createOnce(api, customResourceDefinitions, definition)
  const claimed = longhorn.volumes.flatMap(({ claim }) => claim?.namespace ?? [])
  for (const name of new Set([longhorn.namespace, ...claimed])) {
    await createOnce(api, namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
  for (const setting of buildSettings(longhorn)) await createOnce(api, longhornSettings, setting)
  for (const storageClass of buildStorageClasses(longhorn)) await createOnce(api, storageClasses, storageClass)
  await seedVolumes(api, longhorn)
  await seedClaims(api, longhorn)
}

async function seedVolumes(api: KubeApi, longhorn: LonghornClusterDescription): Promise<void> {
  const settings = firstSettings(longhorn)
  for (const description of buildLonghornDescription(longhorn).volumes ?? []) {
    const built = buildVolume(description, { namespace: longhorn.namespace, settings })
    const volume = await createOnce(api, longhornVolumes, built)
    const { attachedTo } = longhorn.volumes.find(({ name }) => name === description.name) ?? {}
    if (attachedTo === undefined) continue
    const ticket = { id: byHand, type: ticketTypes.api, nodeID: attachedTo }
    const attachment = buildAttachment(volume)
    const spec = { ...attachment.spec, attachmentTickets: { [byHand]: ticket } }
    await createOnce(api, longhornVolumeAttachments, { ...attachment, spec })
  }
}

async function seedClaims(api: KubeApi, { volumes }: LonghornClusterDescription): Promise<void> {
  for (const volume of volumes) {
    const persistent = buildPersistentVolume(volume)
    const { claim, size } = volume
    const phase = claim === undefined ? 'Available' : 'Bound'
    if (persistent !== undefined) await createWithStatus(api, persistentVolumes, persistent, { phase })
    if (claim === undefined) continue
    const status = { phase, accessModes, capacity: { storage: exactSize(size) } }
    await createWithStatus(api, persistentVolumeClaims, buildClaim({ ...volume, claim }), status)
  }
}

/** There is no binder in this cluster: both sides are bound from the start. */
async function createWithStatus(
  api: KubeApi,
  type: ResourceType,
  object: KubeObject,
  status: { readonly phase: string } & JsonObject,
): Promise<void> {
  const created: KubeObject & { readonly status?: { readonly phase?: string } } = await createOnce(api, type, object)
  if (created.status?.phase === status.phase) return
  await api.patch(type, keyOf(object), { type: 'merge', body: { status } }, { subresource: 'status', fieldManager })
}

async function createOnce<T extends KubeObject>(api: KubeApi, type: ResourceType<T>, object: T): Promise<T> {
  try {
    return await api.create(type, object, { fieldManager })
  } catch (error) {
    if (!hasReason(error, 'AlreadyExists')) throw error
    return api.get(type, keyOf(object))
  }
}
