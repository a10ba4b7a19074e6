import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { encodeMessage, type Field } from './protobuf.ts'

/**
 * An OpenAPI version 2 document in the protobuf form of gnostic's `openapi.v2.Document`, the only form old kubectl asks
 * for. The numbers are the field numbers of that schema.
 */
export function encodeOpenapiV2(document: JsonObject): Buffer {
  const info = objectAt(document, 'info')
  const paths = Object.entries(objectAt(document, 'paths'))
  const definitions = Object.entries(objectAt(document, 'definitions'))
  return encodeMessage([
    [1, '2.0'],
    [2, encodeMessage([...text(1, info['title']), ...text(2, info['version'])])],
    [8, encodeMessage(paths.map(([name, item]) => [2, named(name, encodePathItem(item as JsonObject))]))],
    [9, encodeMessage(definitions.map(([name, schema]) => [1, named(name, encodeSchema(schema as JsonObject))]))],
  ])
}

const methodFields: Readonly<Record<string, number>> = { get: 2, put: 3, post: 4, delete: 5, patch: 8 }

function encodePathItem(item: JsonObject): Buffer {
  return encodeMessage(
    Object.entries(item).map(([method, operation]) => [
      methodFields[method] as number,
      encodeOperation(operation as JsonObject),
    ]),
  )
}

function encodeOperation(operation: JsonObject): Buffer {
  const response = encodeMessage([[1, encodeMessage([[1, 'OK']])]])
  return encodeMessage([
    ...textsAt(operation, 'consumes').map((type): Field => [7, type]),
    ...listAt(operation, 'parameters').map((parameter): Field => [8, encodeQueryParameter(parameter as JsonObject)]),
    [9, encodeMessage([[1, named('200', response)]])],
    ...extensions(13, operation),
  ])
}

function encodeQueryParameter(parameter: JsonObject): Buffer {
  const own = encodeMessage([...text(2, parameter['in']), ...text(4, parameter['name']), ...text(6, parameter['type'])])
  const nonBody = encodeMessage([[3, own]])
  return encodeMessage([[1, encodeMessage([[2, nonBody]])]])
}

function encodeSchema(schema: JsonObject): Buffer {
  const { items, additionalProperties } = schema
  const properties = Object.entries(objectAt(schema, 'properties'))
  return encodeMessage([
    ...text(1, schema['$ref']),
    ...text(2, schema['format']),
    ...text(3, schema['title']),
    ...text(4, schema['description']),
    ...text(13, schema['pattern']),
    ...textsAt(schema, 'required').map((name): Field => [19, name]),
    ...listAt(schema, 'enum').map((value): Field => [20, anyValue(value)]),
    ...(isJsonObject(additionalProperties)
      ? [field(21, encodeMessage([[1, encodeSchema(additionalProperties)]]))]
      : []),
    ...(typeof additionalProperties === 'boolean' ? [field(21, encodeMessage([[2, additionalProperties]]))] : []),
    ...(typeof schema['type'] === 'string' ? [field(22, encodeMessage([[1, schema['type']]]))] : []),
    ...(isJsonObject(items) ? [field(23, encodeMessage([[1, encodeSchema(items)]]))] : []),
    ...(properties.length === 0
      ? []
      : [
          field(
            25,
            encodeMessage(properties.map(([name, child]) => [1, named(name, encodeSchema(child as JsonObject))])),
          ),
        ]),
    ...extensions(31, schema),
  ])
}

function field(number: number, value: Uint8Array): Field {
  return [number, value]
}

function named(name: string, value: Uint8Array): Buffer {
  return encodeMessage([
    [1, name],
    [2, value],
  ])
}

/** Extensions travel as YAML text, and JSON is YAML. */
function extensions(number: number, from: JsonObject): Field[] {
  return Object.entries(from)
    .filter(([key]) => key.startsWith('x-'))
    .map(([key, value]) => [number, named(key, anyValue(value as Json))])
}

function anyValue(value: Json): Buffer {
  return encodeMessage([[2, `${JSON.stringify(value)}\n`]])
}

function text(number: number, value: Json | undefined): Field[] {
  return typeof value === 'string' && value !== '' ? [[number, value]] : []
}

function objectAt(from: JsonObject, key: string): JsonObject {
  const value = from[key]
  return isJsonObject(value) ? value : {}
}

function listAt(from: JsonObject, key: string): readonly Json[] {
  const value = from[key]
  return Array.isArray(value) ? value : []
}

function textsAt(from: JsonObject, key: string): readonly string[] {
  return listAt(from, key).filter((item) => typeof item === 'string')
}
