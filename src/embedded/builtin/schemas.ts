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
  Object.assign(schema, link(definitions[name] as Schema))
  return schema
}

function link(schema: Schema & { readonly $ref?: string }): Schema {
  if (schema.$ref !== undefined) {
    const { $ref, ...siblings } = schema
    const target = linkDefinition($ref)
    return Object.keys(siblings).length === 0 ? target : { ...target, ...siblings }
  }
  return {
    ...schema,
    ...(schema.properties && {
      properties: Object.fromEntries(Object.entries(schema.properties).map(([name, child]) => [name, link(child)])),
    }),
    ...(schema.items && { items: link(schema.items) }),
    ...(typeof schema.additionalProperties === 'object' && {
      additionalProperties: link(schema.additionalProperties),
    }),
  }
}
