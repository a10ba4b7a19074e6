import type { Schema } from '../schema/schema.ts'
import published from './schemas.json' with { type: 'json' }

const definitions = published.definitions as unknown as Readonly<Record<string, Schema>>
const kinds = published.kinds as Readonly<Record<string, string>>
const podSpec = 'io.k8s.api.core.v1.PodSpec'

/** Fields that a server has only with a feature that is off by default. */
export type OptionalField = 'evictionResponders'

const optionalPodFields: Readonly<Record<OptionalField, Schema>> = {
  evictionResponders: {
    type: 'array',
    items: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    'x-kubernetes-patch-strategy': 'merge',
    'x-kubernetes-patch-merge-key': 'name',
  },
}

const linkers = new Map<OptionalField | undefined, (name: string) => Schema>()

/** The schema of a built-in kind, references followed, or undefined when the kind is not served. */
export function builtinSchema(apiVersion: string, kind: string, optional?: OptionalField): Schema | undefined {
  const name = kinds[`${apiVersion}/${kind}`]
  if (name === undefined) return undefined
  const linker = linkers.get(optional) ?? createLinker(optional)
  linkers.set(optional, linker)
  return linker(name)
}

/** The names and bodies of all definitions as published, with `$ref`s, for OpenAPI documents. */
export function builtinDefinitions(): Readonly<Record<string, Schema>> {
  return definitions
}

/** The definition's name for a kind, as OpenAPI documents refer to it. */
export function builtinDefinitionName(apiVersion: string, kind: string): string | undefined {
  return kinds[`${apiVersion}/${kind}`]
}

function createLinker(optional: OptionalField | undefined): (name: string) => Schema {
  const linked = new Map<string, Schema>()
  return function linkDefinition(name) {
    const known = linked.get(name)
    if (known) return known
    // Registered before it is filled, so that a definition which reaches itself finds itself.
    const schema: Record<string, unknown> = {}
    linked.set(name, schema)
    Object.assign(schema, decodedForm(name, link(definitionOf(name, optional), linkDefinition)))
    return schema
  }
}

function definitionOf(name: string, optional: OptionalField | undefined): Schema {
  const definition = definitions[name] as Schema
  if (name !== podSpec || optional === undefined) return definition
  return { ...definition, properties: { ...definition.properties, [optional]: optionalPodFields[optional] } }
}

const reported = /(Status|Condition|SystemInfo|NodeAddress|PodIP|HostIP|AttachedVolume|OwnerReference|TokenRequest)$/
const mayBeEmpty = new Set(['value'])

/**
 * What is published says less than what the real server does: raw JSON looks like an empty object, a quantity like any
 * string or number, a time with microseconds like any time, and everything that Go always writes out is called required. Only strings that may not be empty
 * stay required here; strategies demand the rest.
 */
function decodedForm(name: string, schema: Schema): Schema {
  if (name.endsWith('.Quantity')) return { format: 'quantity', decoded: true }
  if (name.endsWith('.IntOrString')) return { 'x-kubernetes-int-or-string': true, decoded: true }
  if (name.endsWith('.MicroTime')) return { ...schema, format: 'micro-time' }
  if (name.endsWith('.FieldsV1') || name.endsWith('.RawExtension')) {
    return { ...schema, 'x-kubernetes-preserve-unknown-fields': true }
  }
  const { required, ...rest } = schema
  if (required === undefined || reported.test(name)) return rest
  const demanded = required.filter((field) => {
    const property = schema.properties?.[field]
    return property?.type === 'string' && property.format === undefined && !mayBeEmpty.has(field)
  })
  return demanded.length === 0 ? rest : { ...rest, required: demanded }
}

function link(schema: Schema & { readonly $ref?: string }, linkDefinition: (name: string) => Schema): Schema {
  const linkChild = (child: Schema) => link(child, linkDefinition)
  if (schema.$ref !== undefined) {
    const { $ref, ...siblings } = schema
    const target = linkDefinition($ref)
    return Object.keys(siblings).length === 0 ? target : { ...target, ...siblings }
  }
  return {
    ...schema,
    decoded: true,
    ...(schema.properties && {
      properties: Object.fromEntries(
        Object.entries(schema.properties).map(([name, child]) => [name, linkChild(child)]),
      ),
    }),
    ...(schema.items && { items: linkChild(schema.items) }),
    ...(typeof schema.additionalProperties === 'object' && {
      additionalProperties: linkChild(schema.additionalProperties),
    }),
  }
}
