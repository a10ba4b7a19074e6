import type { ChildProcess } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClusterSize } from './fill-cluster.ts'
import type { Question } from './serve-cluster.ts'

/** The cluster as its clients see it. */
export interface ServedCluster {
  readonly size: ClusterSize
  readonly url: string
  /** Of the operator's account. */
  readonly token: string
  /** For files that end with the measurement. */
  readonly folder: string
  readonly ask: <T>(question: Question) => Promise<T>
}

/** Writes a kubeconfig. Without a token its user is the administrator. */
export function writeKubeconfig({ url, folder }: ServedCluster, user: { readonly token?: string }): string {
  const name = user.token === undefined ? 'administrator' : 'operator'
  const file = join(folder, name)
  const content = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server: url } }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  }
  writeFileSync(file, JSON.stringify(content), { mode: 0o600 })
  return file
}

export function answerOf<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`the server of the benchmark ended with ${code}`))
    child.once('exit', ended)
    child.once('message', (said) => {
      child.off('exit', ended)
      resolve(said as T)
    })
  })
}
