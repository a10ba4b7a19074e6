import { join } from 'node:path'
import { dump } from 'js-yaml'
import { CofferdamError } from '../../errors.ts'
import { loadKubeconfig } from '../load-kubeconfig.ts'
import { scratchFolder } from './scratch-folder.ts'

export const pem = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
export const data = Buffer.from(pem).toString('base64')
/** Stands in for every secret; no message may ever contain it. */
export const secret = 'Zm9yLW1lLW9ubHk'

export interface Parts {
  readonly cluster?: object
  readonly user?: object
  readonly context?: object
  readonly more?: object
}

/** A kubeconfig with one of each, changed in the parts that a story is about. */
export function config({
  cluster = { server: 'https://10.0.0.1:6443' },
  user = { token: secret },
  context,
  more,
}: Parts = {}) {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'main',
    clusters: [{ name: 'prod', cluster }],
    users: [{ name: 'alice', user }],
    contexts: [{ name: 'main', context: context ?? { cluster: 'prod', user: 'alice' } }],
    ...more,
  }
}

export async function load(
  parts: Parts,
  options: { readonly context?: string; readonly env?: Record<string, string> } = {},
) {
  const folder = await scratchFolder({ config: dump(config(parts)), 'pki/ca.crt': pem, 'pki/key.pem': pem, token: 't' })
  const path = join(folder, 'config')
  return { folder, path, connection: await loadKubeconfig({ path, env: {}, ...options }) }
}

export async function failure(work: () => unknown): Promise<CofferdamError> {
  try {
    await work()
  } catch (error) {
    if (error instanceof CofferdamError) return error
    throw error
  }
  throw new Error('it should have failed')
}
