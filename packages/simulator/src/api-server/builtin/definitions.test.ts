import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import { describe, expect, it } from 'vitest'
import { applyDefaults } from '../schema/defaults.ts'
import { pruneUnknown } from '../schema/prune.ts'
import { validateBySchema } from '../schema/validate.ts'
import { builtinResources } from './definitions.ts'
import published from './schemas.json' with { type: 'json' }

const definitions = builtinResources()
const named = (plural: string) => definitions.find(({ type }) => type.plural === plural)

describe('builtinResources', () => {
  it('every published kind is a resource, but for those that are only the face of a subresource', () => {
    const served = new Set(definitions.map(({ type }) => `${apiVersionOf(type)}/${type.kind}`))
    expect(Object.keys(published.kinds).filter((kind) => !served.has(kind))).toEqual([
      'authentication.k8s.io/v1/TokenRequest',
      'autoscaling/v1/Scale',
      'policy/v1/Eviction',
    ])
  })

  it('no two resources share a path, and no two of one group a short name', () => {
    const paths = definitions.map(({ type }) => `${apiVersionOf(type)}/${type.plural}`)
    const shortNames = definitions.flatMap(({ type, shortNames: own }) => own.map((name) => `${type.group}/${name}`))
    expect([new Set(paths).size, new Set(shortNames).size]).toEqual([paths.length, shortNames.length])
  })

  it('pods are known by all the names and parts that kubectl asks for', () => {
    const { schema, columns, strategy, fieldReaders } = named('pods') as NonNullable<ReturnType<typeof named>>
    expect(named('pods')).toEqual({
      schema,
      columns,
      strategy,
      fieldReaders,
      type: { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true },
      listKind: 'PodList',
      singular: 'pod',
      shortNames: ['po'],
      categories: ['all'],
      origin: 'builtin',
      storageKey: 'pods',
      storageVersion: 'v1',
      hasStatus: true,
      postSubresources: ['binding', 'eviction'],
      selectableFields: [
        'spec.nodeName',
        'spec.restartPolicy',
        'spec.schedulerName',
        'spec.serviceAccountName',
        'spec.hostNetwork',
        'status.phase',
        'status.podIP',
        'status.podIPs',
        'status.nominatedNodeName',
      ],
      hasGeneration: true,
    })
  })

  it('what can be scaled can be scaled', () => {
    expect(definitions.filter(({ scale }) => scale !== undefined).map(({ type }) => type.plural)).toEqual([
      'replicationcontrollers',
      'deployments',
      'replicasets',
      'statefulsets',
    ])
  })

  it('an answer given by whoever knows the users is the answer of the kind that asks', () => {
    const answer = () => ({ status: { allowed: false } })
    const reviews = builtinResources({ answers: { SelfSubjectAccessReview: answer } })
    expect(reviews.find(({ type }) => type.kind === 'SelfSubjectAccessReview')?.strategy.answer).toBe(answer)
  })

  it('an empty object of any kind can be walked and prepared without falling over, and an update to nothing of what was accepted empty is accepted', () => {
    for (const { type, schema, strategy } of definitions) {
      const object = { apiVersion: apiVersionOf(type), kind: type.kind, metadata: { name: 'x', namespace: 'default' } }
      const pruned = pruneUnknown(object, schema, { isRoot: true, onUnknown: () => {} })
      const completed = applyDefaults(pruned, schema)
      const prepared = strategy.prepare?.(completed, undefined) ?? completed
      expect(Array.isArray(validateBySchema(prepared, schema)), type.kind).toBe(true)
      const errors = strategy.validate?.(prepared, undefined) ?? []
      expect(Array.isArray(errors), type.kind).toBe(true)
      if (errors.length > 0) continue
      expect(
        strategy.validate?.(strategy.prepare?.(completed, prepared) ?? completed, prepared) ?? [],
        type.kind,
      ).toEqual([])
    }
  })
})
