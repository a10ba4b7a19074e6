import type { ConfigMap, Secret } from '@cofferdam/kubernetes/api/core.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { ResourceStrategy } from '../resource-definition.ts'
import type { FieldError } from '../schema/field-error.ts'
import { immutableErrors, invalidErrors, requiredError } from './field-rules.ts'

const mostBytes = 1024 * 1024

export const configMapStrategy: ResourceStrategy = {
  validate(next: ConfigMap, previous: ConfigMap | undefined) {
    const { data, binaryData } = next
    if (previous !== undefined && data === previous.data && binaryData === previous.binaryData) {
      return lockErrors(next, previous, [])
    }
    const errors = [...keyErrors(data, 'data'), ...keyErrors(binaryData, 'binaryData')]
    for (const key in binaryData) {
      if (data !== undefined && Object.hasOwn(data, key)) {
        errors.push({
          kind: 'Invalid',
          field: `data[${key}]`,
          value: key,
          detail: 'duplicate of key present in binaryData',
        })
      }
    }
    if (bytesOf(data) + decodedBytesOf(binaryData) > mostBytes) errors.push(tooLong(''))
    return [...errors, ...lockErrors(next, previous, ['data', 'binaryData'])]
  },
}

interface FullSecret extends Secret {
  readonly stringData?: Readonly<Record<string, string>>
  readonly immutable?: boolean
}

export const secretStrategy: ResourceStrategy = {
  prepare(next: FullSecret) {
    const { stringData, ...rest } = next
    const typed = rest.type === undefined || rest.type === '' ? { ...rest, type: 'Opaque' } : rest
    if (stringData === undefined) return typed === rest ? next : typed
    const encoded = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(text).toString('base64')])
    return { ...typed, data: { ...rest.data, ...Object.fromEntries(encoded) } }
  },

  validate(next: FullSecret, previous: FullSecret | undefined) {
    if (previous !== undefined && next.data === previous.data && next.type === previous.type) {
      return lockErrors(next, previous, [])
    }
    const errors = keyErrors(next.data, 'data')
    if (decodedBytesOf(next.data) > mostBytes) errors.push(tooLong('data'))
    for (const key of demandedKeys[next.type ?? ''] ?? []) {
      if (next.data?.[key] === undefined) errors.push(requiredError(`data[${key}]`))
    }
    if (previous !== undefined) errors.push(...immutableErrors(next.type, previous.type, 'type'))
    return [...errors, ...lockErrors(next, previous, ['data'])]
  },
}

const demandedKeys: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/ssh-auth': ['ssh-privatekey'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
}

function lockErrors(
  next: { readonly immutable?: boolean },
  previous: { readonly immutable?: boolean } | undefined,
  fields: readonly string[],
): FieldError[] {
  if (previous?.immutable !== true) return []
  const detail = 'field is immutable when `immutable` is set'
  const errors: FieldError[] = []
  if (next.immutable !== true) errors.push({ kind: 'Forbidden', field: 'immutable', detail })
  for (const field of fields) {
    const after = (next as Readonly<Record<string, unknown>>)[field]
    const before = (previous as Readonly<Record<string, unknown>>)[field]
    if (!isSameJson(after, before)) errors.push({ kind: 'Forbidden', field, detail })
  }
  return errors
}

function keyErrors(data: Readonly<Record<string, string>> | undefined, field: string): FieldError[] {
  return Object.keys(data ?? {}).flatMap((key) => invalidErrors(dataKeyErrors(key), key, `${field}[${key}]`))
}

function dataKeyErrors(key: string): string[] {
  if (key.length > 253) return ['must be no more than 253 bytes']
  if (key === '.' || key === '..') return [`must not be '${key}'`]
  if (key.startsWith('..')) return ["must not start with '..'"]
  if (/^[-._a-zA-Z0-9]+$/.test(key)) return []
  return [
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
  ]
}

function bytesOf(data: Readonly<Record<string, string>> | undefined): number {
  let bytes = 0
  for (const key in data) bytes += Buffer.byteLength(data[key] as string)
  return bytes
}

function decodedBytesOf(data: Readonly<Record<string, string>> | undefined): number {
  let bytes = 0
  for (const key in data) bytes += Buffer.byteLength(data[key] as string, 'base64')
  return bytes
}

function tooLong(field: string): FieldError {
  return { kind: 'TooLong', field, detail: `may not be more than ${mostBytes} bytes` }
}
