import { isJsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { ClusterLink } from '../connect.ts'
import { createSavedApi } from './saved-api.ts'
import { type SavedCluster, savedKind } from './saved-cluster.ts'

/** Whether it is what `cofferdam snapshot` prints. */
export function isSavedCluster(json: unknown): json is SavedCluster {
  if (!isJsonObject(json) || json['kind'] !== savedKind || typeof json['takenAt'] !== 'string') return false
  if (Number.isNaN(Date.parse(json['takenAt'])) || !Array.isArray(json['kinds'])) return false
  return json['kinds'].every(
    (kind) =>
      isJsonObject(kind) &&
      [kind['group'], kind['version'], kind['plural'], kind['state']].every((field) => typeof field === 'string') &&
      Array.isArray(kind['items']) &&
      kind['items'].every((item) => isJsonObject(item) && isJsonObject(item['metadata'])),
  )
}

/** The cluster of a snapshot, at the time at which it was taken. */
export function openSavedCluster(saved: SavedCluster): { readonly link: ClusterLink; readonly clock: Clock } {
  const takenMs = Date.parse(saved.takenAt)
  return {
    link: { api: createSavedApi(saved), server: saved.server, close: () => Promise.resolve() },
    clock: { now: () => takenMs, after: () => () => {} },
  }
}
