import { readFile } from 'node:fs/promises'
import { isJsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { ClusterLink } from '../connect.ts'
import { createSavedApi } from './saved-api.ts'
import { type SavedCluster, savedKind } from './saved-cluster.ts'

const hint = 'cofferdam snapshot > cluster.json saves a cluster'

/** @throws CofferdamError where the file is not there, or is not what `cofferdam snapshot` prints */
export async function readSavedCluster(path: string): Promise<SavedCluster> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    throw new CofferdamError('USAGE', `${path} cannot be read: ${(error as Error).message}`, { hint, cause: error })
  }
  let json: unknown
  try {
    json = JSON.parse(text.replace(/^\uFEFF/u, ''))
  } catch (error) {
    const why = `${path} is not JSON, or only a part of it (${text.length} characters)`
    throw new CofferdamError('USAGE', why, { hint, cause: error })
  }
  if (!isSavedCluster(json)) throw new CofferdamError('USAGE', `${path} is no snapshot of a cluster`, { hint })
  return json
}

function isSavedCluster(json: unknown): json is SavedCluster {
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
