import type { Schema } from '../schema/schema.ts'
import published from './schemas.json' with { type: 'json' }

const definitions = published.definitions as unknown as Readonly<Record<string, Schema>>
const kinds = published.kinds as Readonly<Record<string, string>>
const linked = new Map<string, Schema>()

/** The schema of a built-in kind, references followed, or undefined when the kind is not served. */
export function builtinSchema(apiVersion: string, kind: string): Schema | undefined {
  const name = kinds[`${apiVersion}/${kind}`]
  return name === undefined ? undefined : linkDefinition(name)
}

/** The names and bodies of all definitions as published, with `$ref`s, for OpenAPI documents. */
export function builtinDefinitions(): Readonly<Record<string, Schema>> {
  return definitions
}

/** The definition's name for a kind, as OpenAPI documents refer to it. */
export function builtinDefinitionName(apiVersion: string, kind: string): string | undefined {
  return kinds[`${apiVersion}/${kind}`]
}

function linkDefinition(name: string): Schema {
  const known = linked.get(name)
  if (known) return known
  // Registered before it is filled, so that a definition which reaches itself finds itself.
  const schema: Record<string, unknown> = {}
  linked.set(name, schema)
  Object.assign(schema, decodedForm(name, link(definitions[name] as Schema)))
  return schema
}

const reported = /(Status|Condition|SystemInfo|NodeAddress|PodIP|HostIP|AttachedVolume|OwnerReference|TokenRequest)$/
const mayBeEmpty = new Set(['value'])

/**
 * What is published says less than what the real server does: raw JSON looks like an empty object, a quantity like any
 * string or number, and everything that Go always writes out is called required. Only strings that may not be empty
 * stay required here; strategies demand the rest.
 */
function decodedForm(name: string, schema: Schema): Schema {
  if (name.endsWith('.Quantity')) return { format: 'quantity', decoded: true }
  if (name.endsWith('.IntOrString')) return { 'x-kubernetes-int-or-string': true, decoded: true }
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

function link(schema: Schema & { readonly $ref?: string }): Schema {
  if (schema.$ref !== undefined) {
    const { $ref, ...siblings } = schema
    const target = linkDefinition($ref)
    return Object.keys(siblings).length === 0 ? target : { ...target, ...siblings }
  }
  return {
    ...schema,
    decoded: true,
    ...(schema.properties && {
      properties: Object.fromEntries(Object.entries(schema.properties).map(([name, child]) => [name, link(child)])),
    }),
    ...(schema.items && { items: link(schema.items) }),
    ...(typeof schema.additionalProperties === 'object' && {
      additionalProperties: link(schema.additionalProperties),
    }),
  }
}
