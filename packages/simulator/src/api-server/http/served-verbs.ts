import type { ResourceDefinition } from '../resource-definition.ts'

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch'

const everyVerb: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']
const createOnly: readonly Verb[] = ['create']

// These carry an order or a question; nothing of theirs is kept that could be read back.
const neverStored = new Set(['Binding', 'LocalSubjectAccessReview', 'SelfSubjectReview', 'TokenReview'])

export function verbsOf({ type, strategy, origin }: ResourceDefinition): readonly Verb[] {
  const isQuestion = strategy.answer !== undefined || (origin === 'builtin' && neverStored.has(type.kind))
  if (isQuestion) return createOnly
  // Nobody can delete all namespaces in one breath.
  return type.group === '' && type.kind === 'Namespace'
    ? everyVerb.filter((verb) => verb !== 'deletecollection')
    : everyVerb
}

export interface ServedSubresource {
  readonly name: string
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly verbs: readonly Verb[]
}

const readAndWrite: readonly Verb[] = ['get', 'patch', 'update']

const postKinds: Readonly<Record<string, { group: string; version: string; kind: string }>> = {
  binding: { group: '', version: 'v1', kind: 'Binding' },
  eviction: { group: 'policy', version: 'v1', kind: 'Eviction' },
  token: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
}

export function subresourcesOf(definition: ResourceDefinition): readonly ServedSubresource[] {
  const { type, hasStatus, scale, postSubresources } = definition
  const own = { group: type.group, version: type.version, kind: type.kind }
  return [
    ...(hasStatus ? [{ name: 'status', ...own, verbs: readAndWrite }] : []),
    ...(scale ? [{ name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: readAndWrite }] : []),
    ...postSubresources.map((name) => ({ name, ...(postKinds[name] ?? own), verbs: createOnly })),
    ...(type.group === '' && type.kind === 'Namespace'
      ? [{ name: 'finalize', ...own, verbs: ['update'] as const }]
      : []),
  ]
}
