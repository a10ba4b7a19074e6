import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeList, KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { isSelected, parseLabelSelector } from '@cofferdam/kubernetes/api/label-selector.ts'
import { keyOf, keyText, type ObjectKey, type ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi, ListQuery } from '@cofferdam/kubernetes/client/kube-api.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { kindName, type SavedCluster, type SavedKind } from './saved-cluster.ts'

/**
 * A cluster as it was saved, for everything that reads one.
 *
 * Fails closed: a kind that the file does not have, or that could not be read, is refused as it would be without the right to read it, so
 * that whoever asks says that it is not known. Every write is refused.
 */
export function createSavedApi({ kinds, takenAt }: SavedCluster): KubeApi {
  const byName = new Map(kinds.map((kind) => [kindName(kind), kind]))
  const indexed = new Map<string, ReadonlyMap<string, KubeObject>>()

  const kindOf = (type: ResourceType): SavedKind => {
    const name = kindName(type)
    const saved = byName.get(name)
    if (saved === undefined) throw new ApiError('Forbidden', `${name} are not in the snapshot`)
    if (saved.state === 'refused') {
      throw new ApiError('Forbidden', `${name} could not be read when the snapshot was taken: ${saved.why ?? ''}`)
    }
    if (saved.state === 'absent') throw new ApiError('NotFound', 'the server could not find the requested resource')
    return saved
  }
  const objectsOf = (type: ResourceType): ReadonlyMap<string, KubeObject> => {
    const name = kindName(type)
    const objects = indexed.get(name) ?? new Map(kindOf(type).items.map((item) => [keyText(keyOf(item)), item]))
    indexed.set(name, objects)
    return objects
  }
  const refuse = async (): Promise<never> => {
    throw new CofferdamError('USAGE', `nothing can be changed in a snapshot of ${takenAt}`)
  }

  return {
    async get<T extends KubeObject>(type: ResourceType<T>, key: ObjectKey): Promise<T> {
      const found = objectsOf(type).get(keyText(type.namespaced ? key : { name: key.name }))
      if (found === undefined) throw new ApiError('NotFound', `${type.plural} "${key.name}" not found`)
      return found as T
    },
    async list<T extends KubeObject>(type: ResourceType<T>, query: ListQuery = {}): Promise<KubeList<T>> {
      const matches = matcherOf(query)
      const { items: all } = kindOf(type)
      const items = matches === undefined ? all : all.filter(matches)
      return { items: items as readonly KubeObject[] as readonly T[], resourceVersion: '1' }
    },
    watch: () => ({ [Symbol.asyncIterator]: () => ({ next: refuse }) }),
    create: refuse,
    createSubresource: refuse,
    update: refuse,
    patch: refuse,
    delete: refuse,
    deleteCollection: refuse,
  }
}

/** Undefined: everything is asked for. */
function matcherOf({
  namespace,
  labelSelector,
  fieldSelector,
}: ListQuery): ((object: KubeObject) => boolean) | undefined {
  if (namespace === undefined && labelSelector === undefined && fieldSelector === undefined) return undefined
  const selector = labelSelector === undefined ? undefined : parseLabelSelector(labelSelector)
  const fields = (fieldSelector ?? '')
    .split(',')
    .filter((each) => each !== '')
    .map(parseField)
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    (selector === undefined || isSelected(selector, object.metadata.labels)) &&
    fields.every(({ path, value, isEqual }) => (textAt(object, path) === value) === isEqual)
}

function parseField(text: string): {
  readonly path: readonly string[]
  readonly value: string
  readonly isEqual: boolean
} {
  const [, path = '', operator = '=', value = ''] = /^([^!=]+)(!=|==|=)(.*)$/u.exec(text) ?? []
  return { path: path.split('.'), value, isEqual: operator !== '!=' }
}

function textAt(object: unknown, path: readonly string[]): string {
  let value: unknown = object
  for (const name of path) value = (value as Readonly<Record<string, unknown>> | undefined)?.[name]
  return typeof value === 'string' ? value : ''
}
