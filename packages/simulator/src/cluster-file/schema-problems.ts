import { closestName } from '@cofferdam/kubernetes/api/closest-name.ts'
import type { z } from 'zod'
import { clusterSchema } from './cluster-schema.ts'
import type { Problem } from './expand-nodes.ts'

type Path = readonly PropertyKey[]

/** Every way in which a document departs from the schema, in the reader's words. */
export function explainIssues(issues: readonly z.core.$ZodIssue[], document: unknown): Problem[] {
  return issues.flatMap((issue) => explainIssue(issue, document))
}

function explainIssue(issue: z.core.$ZodIssue, document: unknown): Problem[] {
  if (issue.code === 'unrecognized_keys') {
    const known = knownFields(issue.path)
    return issue.keys.map((key) => ({ path: pathText([...issue.path, key]), says: unknownField(key, known) }))
  }
  if (issue.code === 'invalid_key') {
    return [{ path: pathText(issue.path), says: issue.issues[0]?.message ?? 'is not a usable key' }]
  }
  const value = valueAt(document, issue.path)
  return [{ path: pathText(issue.path), says: value === undefined ? 'is missing' : sayIssue(issue, value) }]
}

function sayIssue(issue: z.core.$ZodIssue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.message.startsWith('must ')) return issue.message
      return `must be ${typeNames[issue.expected] ?? issue.expected}, not ${typeNameOf(value)}`
    case 'invalid_value': {
      const known = issue.values.map(String)
      const near = typeof value === 'string' ? closestName(value, known) : undefined
      return `must be one of ${known.join(', ')}, not ${JSON.stringify(value)}${near ? `; did you mean "${near}"?` : ''}`
    }
    case 'too_small':
      if (issue.origin === 'array') return 'must have at least one entry'
      if (issue.origin === 'string') return 'must not be empty'
      return `must be at least ${issue.minimum}`
    case 'too_big':
      return issue.origin === 'string'
        ? `must have at most ${issue.maximum} letters`
        : `must be at most ${issue.maximum}`
    default:
      return issue.message
  }
}

function unknownField(key: string, known: readonly string[]): string {
  const near = closestName(key, known)
  return near === undefined
    ? `unknown field; known here: ${known.join(', ')}`
    : `unknown field; did you mean "${near}"?`
}

/** The fields the schema has at a place of the document. */
function knownFields(path: Path): readonly string[] {
  let schema: z.core.$ZodType = clusterSchema
  for (const step of path) {
    const { def } = unwrapped(schema)._zod as z.core.$ZodObjectInternals | z.core.$ZodArrayInternals
    const next = def.type === 'object' ? def.shape[String(step)] : def.element
    if (next === undefined) return []
    schema = next
  }
  const { def } = unwrapped(schema)._zod as z.core.$ZodObjectInternals
  return Object.keys(def.shape)
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  const { def } = schema._zod as z.core.$ZodOptionalInternals
  return def.innerType === undefined ? schema : unwrapped(def.innerType)
}

function valueAt(document: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, step) => (value as Record<PropertyKey, unknown> | undefined)?.[step], document)
}

/** `nodes[0].labels.disktype`; the empty path is the whole file. */
function pathText(path: Path): string {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('')
  return text === '' ? 'the file' : text.replace(/^\./, '')
}

const typeNames: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'a mapping of fields',
  record: 'a mapping of names to texts',
  string: 'a text',
}

function typeNameOf(value: unknown): string {
  if (value === null) return 'empty'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping of fields'
  return JSON.stringify(value)
}
