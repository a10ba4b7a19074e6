import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ObjectKey } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { productVersion } from '../../ledger/store/product-version.ts'
import type { ClusterLink } from '../connect.ts'
import { type SavedCluster, type SavedKind, savedKind, savedVersion } from './saved-cluster.ts'
import { type SavedKindRule, savedKindRules } from './saved-kinds.ts'

export interface SnapshotQuestion {
  readonly api: Pick<KubeApi, 'get' | 'list'>
  readonly clock: Clock
  readonly server: string
  readonly serverVersion?: ClusterLink['serverVersion']
  readonly leaseNamespace: string
  readonly signal: AbortSignal
}

/** Reads each kind once. What may not be read is saved as refused: whoever reads the file knows that it is not known. */
export async function takeSnapshot({
  api,
  clock,
  server,
  serverVersion,
  leaseNamespace,
  signal,
}: SnapshotQuestion): Promise<SavedCluster> {
  const takenAt = timestamp(clock)
  const kubernetes = await serverVersion?.(signal)
  const versions = { cofferdam: productVersion, ...(kubernetes === undefined ? {} : { kubernetes }) }
  const kinds: SavedKind[] = []
  for (const rule of savedKindRules(leaseNamespace)) kinds.push(await saveKind(rule, kinds, { api, signal }))
  return { apiVersion: savedVersion, kind: savedKind, takenAt, server, versions, kinds }
}

type Place = Pick<SnapshotQuestion, 'api' | 'signal'>

async function saveKind(rule: SavedKindRule, before: readonly SavedKind[], place: Place): Promise<SavedKind> {
  const { group, version, plural } = rule.type
  const saved = (state: SavedKind['state'], items: readonly KubeObject[], why?: string): SavedKind => {
    return { group, version, plural, state, ...(why === undefined ? {} : { why }), items }
  }
  try {
    const items = rule.only === undefined ? await listAll(rule, place) : await getEach(rule, rule.only(before), place)
    return saved('read', items.map(rule.slim))
  } catch (error) {
    if (hasReason(error, 'NotFound')) return saved('absent', [])
    if (hasReason(error, 'Forbidden')) return saved('refused', [], error.message)
    throw error
  }
}

async function listAll({ type, labelSelector }: SavedKindRule, { api, signal }: Place): Promise<readonly KubeObject[]> {
  return (await api.list(type, { ...(labelSelector === undefined ? {} : { labelSelector }), signal })).items
}

async function getEach(
  { type }: SavedKindRule,
  keys: readonly ObjectKey[],
  { api, signal }: Place,
): Promise<readonly KubeObject[]> {
  const found: KubeObject[] = []
  for (const key of keys) {
    try {
      found.push(await api.get(type, key, { signal }))
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error
    }
  }
  return found
}
