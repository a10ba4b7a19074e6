import type { Json } from '@cofferdam/kubernetes/api/json.ts'
import { builtinSchema } from '../builtin/schemas.ts'
import type { Schema } from './schema.ts'

/** A schema in the form the walkers read: looked up once per field, never interpreted twice. */
export interface CompiledSchema {
  readonly schema: Schema
  readonly type: Schema['type']
  readonly properties: ReadonlyMap<string, CompiledSchema>
  /** What every field that `properties` does not name has to be. */
  readonly additional: CompiledSchema | undefined
  readonly items: CompiledSchema | undefined
  readonly required: readonly string[]
  readonly keepsUnknown: boolean
  readonly nullable: boolean
  readonly intOrString: boolean
  readonly quantity: boolean
  readonly decoded: boolean
  /** A list or map of the types of the real server, which does not distinguish an empty one from none. */
  readonly omitsEmpty: boolean
  readonly hasDefault: boolean
  /** Properties that are set when absent, with the value to set. */
  readonly defaults: readonly (readonly [field: string, node: CompiledSchema])[]
  /** Rules for `metadata` that a custom resource adds to those all objects obey. */
  readonly metadataRules: CompiledSchema | undefined
  /** True when the schema says more about a value than its type. */
  readonly hasValueRules: boolean
  readonly listMapKeys: readonly string[] | undefined
}

type Draft = { -readonly [field in keyof CompiledSchema]: CompiledSchema[field] }

const plain = new WeakMap<Schema, CompiledSchema>()
const resources = new WeakMap<Schema, CompiledSchema>()

/** `asResource`: the schema of a whole object, which has apiVersion, kind and metadata whether it names them or not. */
export function compiledSchema(schema: Schema, asResource: boolean): CompiledSchema {
  const cache = asResource ? resources : plain
  const known = cache.get(schema)
  if (known) return known
  const draft: Draft = {
    schema,
    type: schema.type,
    properties: new Map(),
    additional: undefined,
    items: undefined,
    required: schema.required ?? [],
    keepsUnknown: keepsUnknown(schema),
    nullable: schema.nullable === true,
    intOrString: schema['x-kubernetes-int-or-string'] === true,
    quantity: schema.format === 'quantity' && schema.decoded === true,
    decoded: schema.decoded === true,
    omitsEmpty: schema.decoded === true && (schema.items !== undefined || isMap(schema)),
    hasDefault: schema.default !== undefined,
    defaults: [],
    metadataRules: undefined,
    hasValueRules: hasValueRules(schema),
    listMapKeys: schema['x-kubernetes-list-type'] === 'map' ? schema['x-kubernetes-list-map-keys'] : undefined,
  }
  cache.set(schema, draft)
  fillChildren(draft, asResource)
  return draft
}

function fillChildren(draft: Draft, asResource: boolean): void {
  const { schema } = draft
  const properties = new Map<string, CompiledSchema>()
  for (const [field, child] of Object.entries(schema.properties ?? {})) properties.set(field, compileChild(child))
  if (asResource) {
    const own = properties.get('metadata')
    if (own && !own.decoded) draft.metadataRules = own
    properties.set('apiVersion', compileChild(textSchema))
    properties.set('kind', compileChild(textSchema))
    properties.set('metadata', compileChild(objectMetaSchema()))
  }
  draft.properties = properties
  if (typeof schema.additionalProperties === 'object') draft.additional = compileChild(schema.additionalProperties)
  if (schema.items !== undefined) draft.items = compileChild(schema.items)
  draft.defaults = [...properties].filter(([, child]) => child.hasDefault)
}

function isMap({ additionalProperties, properties }: Schema): boolean {
  return typeof additionalProperties === 'object' && properties === undefined
}

function compileChild(schema: Schema): CompiledSchema {
  return compiledSchema(schema, schema['x-kubernetes-embedded-resource'] === true)
}

const textSchema: Schema = { type: 'string', decoded: true }

function objectMetaSchema(): Schema {
  return builtinSchema('v1', 'ConfigMap')?.properties?.['metadata'] as Schema
}

function keepsUnknown(schema: Schema): boolean {
  if (schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true) return true
  return schema.type === undefined && schema.properties === undefined && schema.additionalProperties === undefined
}

const typeWords: ReadonlySet<string> = new Set([
  'type',
  'title',
  'description',
  'nullable',
  'default',
  'properties',
  'additionalProperties',
  'required',
  'items',
  'example',
  'externalDocs',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-patch-merge-key',
  'x-kubernetes-patch-strategy',
  'decoded',
])

function hasValueRules(schema: Schema): boolean {
  for (const [word, value] of Object.entries(schema)) {
    if (typeWords.has(word)) continue
    if (word === 'x-kubernetes-list-type') {
      if (schema.decoded === true || value === 'atomic') continue
    }
    return true
  }
  return false
}

/** The default of a property as it is stored: completed by the defaults inside it, and shared by all who get it. */
const completedDefaults = new WeakMap<CompiledSchema, Json>()

export function completedDefault(node: CompiledSchema, complete: (value: Json) => Json): Json {
  const known = completedDefaults.get(node)
  if (known !== undefined) return known
  const value = complete(node.schema.default as Json)
  completedDefaults.set(node, value)
  return value
}
