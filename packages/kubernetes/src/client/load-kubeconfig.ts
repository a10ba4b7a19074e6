import { homedir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { CofferdamError } from '../errors.ts'
import type { ClusterConnection } from './cluster-connection.ts'
import { readText } from './connection-files.ts'
import type { Environment } from './environment.ts'
import { connectionInCluster, isInCluster } from './in-cluster.ts'
import { type Kubeconfig, parseKubeconfig } from './kubeconfig.ts'
import { buildConnection } from './kubeconfig-connection.ts'
import type { KubeconfigFields } from './kubeconfig-fields.ts'

export interface LoadKubeconfigOptions {
  /** `--kubeconfig`: this file and no other. */
  readonly path?: string
  /** `--context`: this one instead of the file's current-context. */
  readonly context?: string
  readonly env: Environment
  /** Where a pod finds its service account. */
  readonly serviceAccountFolder?: string
}

/** Finds the cluster to talk to as kubectl does: `--kubeconfig`, $KUBECONFIG, ~/.kube/config, then the pod's service account. */
export async function loadKubeconfig(options: LoadKubeconfigOptions): Promise<ClusterConnection> {
  const { env, context } = options
  const { paths, mustExist } = candidates(options)
  const found: Kubeconfig[] = []
  for (const path of paths) {
    const text = await readText(path, mustExist ? 'the kubeconfig' : undefined)
    if (text !== undefined) found.push(parseKubeconfig(text, { path }))
  }
  const merged = merge(found)
  if (merged.contexts.size === 0 && context === undefined && isInCluster(env) && !mustExist) {
    return connectionInCluster({ env, folder: options.serviceAccountFolder })
  }
  if (found.length === 0) {
    throw new CofferdamError('FILE_UNREADABLE', `there is no kubeconfig: looked for ${paths.join(', ')}`, {
      facts: { files: paths.join(', ') },
      hint: 'pass --kubeconfig FILE or set KUBECONFIG; inside a pod, let the service account token be mounted',
    })
  }
  return buildConnection(merged, { context, env })
}

function candidates({ path, env }: LoadKubeconfigOptions): { paths: readonly string[]; mustExist: boolean } {
  if (path !== undefined && path !== '') return { paths: [resolve(path)], mustExist: true }
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((entry) => entry !== '')
  if (listed.length > 0) return { paths: listed.map((entry) => resolve(entry)), mustExist: false }
  return { paths: [join(env['HOME'] || homedir(), '.kube', 'config')], mustExist: false }
}

/** The first file to name a thing wins, entry by entry. */
function merge(parts: readonly Kubeconfig[]): Kubeconfig {
  const all = (pick: (part: Kubeconfig) => ReadonlyMap<string, KubeconfigFields>) =>
    new Map([...parts].reverse().flatMap((part) => [...pick(part)]))
  return {
    files: parts.flatMap((part) => part.files),
    currentContext: parts.find((part) => part.currentContext !== undefined)?.currentContext,
    clusters: all((part) => part.clusters),
    users: all((part) => part.users),
    contexts: all((part) => part.contexts),
  }
}
