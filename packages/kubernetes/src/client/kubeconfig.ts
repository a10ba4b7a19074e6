import { homedir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { loadAll, YAMLException } from 'js-yaml'
import { CofferdamError } from '../errors.ts'
import type { ClusterConnection } from './cluster-connection.ts'
import { readText } from './connection-files.ts'
import { connectionInCluster, isInCluster } from './in-cluster.ts'
import { buildConnection } from './kubeconfig-connection.ts'
import { KubeconfigFields } from './kubeconfig-fields.ts'

/** One kubeconfig, or several merged. Entries are read in full only when a context needs them: an old, broken one is no obstacle. */
export interface Kubeconfig {
  readonly files: readonly string[]
  readonly currentContext: string | undefined
  readonly clusters: ReadonlyMap<string, KubeconfigFields>
  readonly users: ReadonlyMap<string, KubeconfigFields>
  readonly contexts: ReadonlyMap<string, KubeconfigFields>
}

export type Environment = Readonly<Record<string, string | undefined>>

export interface LoadKubeconfigOptions {
  /** `--kubeconfig`: this file and no other. */
  readonly path?: string
  /** `--context`: this one instead of the file's current-context. */
  readonly context?: string
  readonly env: Environment
  /** Where a pod finds its service account. */
  readonly serviceAccountFolder?: string
}

export function parseKubeconfig(text: string, { path }: { readonly path: string }): Kubeconfig {
  const root = new KubeconfigFields(loadYaml(text, path) ?? {}, path)
  const kind = root.text('kind')
  if (kind !== undefined && kind !== 'Config') {
    throw root.wrong('kind', 'is not Config', 'name a kubeconfig; this looks like another kind of file')
  }
  return {
    files: [path],
    currentContext: root.text('current-context'),
    clusters: entriesOf(root, 'clusters', 'cluster'),
    users: entriesOf(root, 'users', 'user'),
    contexts: entriesOf(root, 'contexts', 'context'),
  }
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

function entriesOf(root: KubeconfigFields, listName: string, field: string): Map<string, KubeconfigFields> {
  const entries = new Map<string, KubeconfigFields>()
  for (const item of root.list(listName)) {
    const name = item.requiredText('name', 'give the entry a name, or remove it')
    const place = `${listName}[${name}]`
    if (entries.has(name)) {
      throw root.wrong(`${listName}[${name}]`, 'is there twice', 'remove or rename one of the two')
    }
    entries.set(name, (item.fields(field) ?? new KubeconfigFields({}, root.file)).named(place))
  }
  return entries
}

function loadYaml(text: string, path: string): unknown {
  try {
    // An empty file holds no document at all; of several, kubectl reads the first.
    return loadAll(text)[0]
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    // The full message quotes the lines around the fault, and those may hold a token.
    const reason = error.reason.split(/["'!<(]/, 1)[0]?.trim()
    const line = (error.mark?.line ?? 0) + 1
    throw new CofferdamError('KUBECONFIG_INVALID', `${path}: line ${line} is not YAML: ${reason}`, {
      facts: { file: path, line },
      hint: `correct line ${line}, or write the file anew with your cluster's own command`,
    })
  }
}
