import { loadAll, YAMLException } from 'js-yaml'
import { CofferdamError } from '../errors.ts'
import { KubeconfigFields } from './kubeconfig-fields.ts'

/** One kubeconfig, or several merged. Entries are read in full only when a context needs them: an old, broken one is no obstacle. */
export interface Kubeconfig {
  readonly files: readonly string[]
  readonly currentContext: string | undefined
  readonly clusters: ReadonlyMap<string, KubeconfigFields>
  readonly users: ReadonlyMap<string, KubeconfigFields>
  readonly contexts: ReadonlyMap<string, KubeconfigFields>
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
