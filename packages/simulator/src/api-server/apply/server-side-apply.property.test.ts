import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtinSchema } from '../builtin/schemas.ts'
import type { Schema } from '../schema/schema.ts'
import { deepFreeze } from '../store/deep-freeze.ts'
import { serverSideApply } from './server-side-apply.ts'
import { trackUpdate } from './track-update.ts'

const schema = builtinSchema('v1', 'Pod') as Schema
const time = '2024-05-01T12:00:00Z'

/** Fields of a pod that one manager may care for; `mine` keeps the names of two managers apart. */
function configurations(mine: string): fc.Arbitrary<JsonObject> {
  const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
  const word = fc.constantFrom('x', 'y')
  const labels = fc.dictionary(fc.constantFrom(`${mine}1`, `${mine}2`), word, { noNullPrototype: true, minKeys: 1 })
  const env = fc.uniqueArray(fc.record({ name: fc.constantFrom('A', 'B', 'C'), value: word }), {
    selector: ({ name }) => name,
    minLength: 1,
  })
  const container = fc.record({
    name: fc.constantFrom(`${mine}-a`, `${mine}-b`),
    image: word,
    env: some(env),
    args: some(fc.array(word, { minLength: 1, maxLength: 2 })),
  })
  const containers = fc.uniqueArray(container, { selector: ({ name }) => name, minLength: 1, maxLength: 2 })
  const finalizers = fc.uniqueArray(fc.constantFrom(`${mine}/1`, `${mine}/2`), { minLength: 1 })
  return fc
    .record({ labels: some(labels), finalizers: some(finalizers), containers: some(containers) })
    .map((fields) => {
      const spec = fields.containers === undefined ? {} : { spec: { containers: fields.containers } }
      const { containers: _, ...metadata } = fields
      return withoutUndefined({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', ...metadata }, ...spec })
    })
}

function withoutUndefined(value: unknown): JsonObject {
  return deepFreeze(JSON.parse(JSON.stringify(value)) as JsonObject)
}

function apply(live: KubeObject | undefined, applied: JsonObject, manager: string, force = false): KubeObject {
  return deepFreeze(serverSideApply({ live, applied, schema, manager, force, apiVersion: 'v1', time }).object)
}

/** Whether all that the part says is so in the whole; lists of named items are compared by name. */
function contains(whole: Json | undefined, part: Json | undefined): boolean {
  if (isJsonObject(part))
    return isJsonObject(whole) && Object.keys(part).every((name) => contains(whole[name], part[name]))
  if (!Array.isArray(part)) return whole === part
  return Array.isArray(whole) && part.every((item) => whole.some((candidate) => contains(candidate, item)))
}

function contentOf({ metadata, ...rest }: KubeObject): JsonObject {
  const { managedFields: _, ...kept } = metadata
  return { ...rest, metadata: kept } as unknown as JsonObject
}

describe('server-side apply, whatever is applied', () => {
  it('is stable: the same configuration a second time returns the same object', () => {
    fc.assert(
      fc.property(configurations('one'), fc.option(configurations('two'), { nil: undefined }), (mine, theirs) => {
        const live = theirs === undefined ? undefined : apply(undefined, theirs, 'two')
        const once = apply(live, mine, 'one')
        expect(apply(once, mine, 'one')).toBe(once)
        expect(contains(contentOf(once), mine)).toBe(true)
      }),
    )
  })

  it('never sets managers of disjoint fields against each other, and loses nothing of either', () => {
    fc.assert(
      fc.property(
        configurations('one'),
        configurations('two'),
        configurations('one'),
        configurations('two'),
        (first, second, third, fourth) => {
          let live = apply(undefined, first, 'one')
          live = apply(live, second, 'two')
          live = apply(live, third, 'one')
          expect(contains(contentOf(live), second)).toBe(true)
          live = apply(live, fourth, 'two')
          expect(contains(contentOf(live), third)).toBe(true)
          expect(contains(contentOf(live), fourth)).toBe(true)
        },
      ),
    )
  })

  it('gives back, when a manager wants nothing any more, what the others have without it', () => {
    const nothing = deepFreeze({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } })
    fc.assert(
      fc.property(configurations('one'), configurations('two'), (mine, theirs) => {
        const alone = apply(undefined, theirs, 'two')
        const both = apply(alone, mine, 'one', true)
        expect(apply(both, nothing, 'one')).toEqual(alone)
      }),
    )
  })

  it('either refuses and changes nothing, or ends with all that was asked for, when managers want the same fields', () => {
    fc.assert(
      fc.property(configurations('one'), configurations('one'), configurations('one'), (first, second, third) => {
        const live = apply(apply(undefined, first, 'one'), second, 'two', true)
        expect(contains(contentOf(live), second)).toBe(true)
        try {
          expect(contains(contentOf(apply(live, third, 'three')), third)).toBe(true)
        } catch (error) {
          if (!(error instanceof ApiError)) throw error
          expect(error.code).toBe(409)
        }
        expect(contains(contentOf(apply(live, third, 'three', true)), third)).toBe(true)
      }),
    )
  })

  it('knows an owner for every field that appeared by an update', () => {
    fc.assert(
      fc.property(configurations('one'), configurations('one'), (first, second) => {
        const write = { schema, apiVersion: 'v1', time }
        const previous = deepFreeze(
          trackUpdate({ ...write, previous: undefined, next: first as unknown as KubeObject, manager: 'a' }),
        )
        // An object of which nobody owned anything is not tracked.
        fc.pre(previous.metadata.managedFields !== undefined)
        const next = deepFreeze({
          ...second,
          metadata: { ...(second['metadata'] as JsonObject) },
        }) as unknown as KubeObject
        const updated = trackUpdate({ ...write, previous, next, manager: 'b' })
        const asCreated = trackUpdate({ ...write, previous: undefined, next, manager: 'b' })
        const all = (object: KubeObject) =>
          new Set((object.metadata.managedFields ?? []).flatMap(({ fieldsV1 }) => leavesOf(fieldsV1 ?? {})))
        expect(all(updated)).toEqual(all(asCreated))
      }),
    )
  })
})

function leavesOf(fields: JsonObject, prefix = ''): string[] {
  return Object.entries(fields).flatMap(([element, below]) => {
    const path = `${prefix}/${element}`
    return isJsonObject(below) && Object.keys(below).length > 0 ? leavesOf(below, path) : [path.replace(/\/\.$/, '')]
  })
}
