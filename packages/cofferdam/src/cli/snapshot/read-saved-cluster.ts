import { readFile } from 'node:fs/promises'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { isSavedCluster } from './open-saved-cluster.ts'
import type { SavedCluster } from './saved-cluster.ts'

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
