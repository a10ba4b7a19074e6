import { isJsonObject, type Json, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { goSyntax, goTypeName, goValueText } from '../patch/go-value-text.ts'
import { unclassifiedFailure } from '../patch/patch-failure.ts'
import type { FieldPlan } from './field-plan.ts'
import { itemElement } from './list-items.ts'
import { type PathElement, pathElementText } from './path-element.ts'

/** Refuses a configuration that does not fit the schema or names a list item twice: it could not be merged. */
export function validateApplied(applied: JsonObject, plan: FieldPlan, subject: string): void {
  const problems = [...problemsOf(applied, plan, '')]
  if (problems.length === 0) return
  const list =
    problems.length === 1 ? problems[0] : ['errors:', ...problems.map((problem) => `  ${problem}`)].join('\n')
  throw unclassifiedFailure(`failed to create typed patch object (${subject}): ${list}`)
}

function* problemsOf(value: Json, plan: FieldPlan, path: string): Generator<string> {
  const expected = expectedType(plan)
  if (value === null) return
  if (isJsonObject(value)) {
    if (expected === 'map' || expected === undefined) yield* problemsOfMap(value, plan, path)
    else yield said(path, mismatch(value, expected))
  } else if (Array.isArray(value)) {
    if (expected !== 'list' && expected !== undefined) yield said(path, mismatch(value, expected))
    else yield* problemsOfList(value, plan, path)
  } else if (expected !== undefined && !fits(value, expected)) {
    yield said(path, mismatch(value, expected))
  }
}

function* problemsOfMap(map: JsonObject, plan: FieldPlan, path: string): Generator<string> {
  for (const name of Object.keys(map)) {
    const value = map[name]
    if (value === undefined) continue
    if (!plan.allows(name)) yield said(`${path}.${name}`, 'field not declared in schema')
    else yield* problemsOf(value, plan.slot(name).plan, `${path}.${name}`)
  }
}

function* problemsOfList(list: readonly Json[], plan: FieldPlan, path: string): Generator<string> {
  const seen = new Set<PathElement>()
  for (const [index, item] of list.entries()) {
    if (plan.list === 'atomic') {
      yield* problemsOf(item, plan.items, `${path}[${index}]`)
      continue
    }
    const element = itemElement(item, plan)
    if (element === undefined) {
      yield said(path, `element ${index}: ${whyUnnamed(item, plan)}`)
      return
    }
    const text = pathElementText(element)
    if (seen.has(element)) yield said(path, `duplicate entries for key ${text}`)
    seen.add(element)
    yield* problemsOf(item, plan.items, `${path}${text}`)
  }
}

function whyUnnamed(item: Json, plan: FieldPlan): string {
  if (plan.list === 'set') {
    if (Array.isArray(item)) return 'not supported: associative list with lists as elements'
    if (item === null) return "associative list without keys has an element that's an explicit null"
    return "associative list without keys has an element that's a map type"
  }
  if (item === null) return 'associative list with keys may not have a null element'
  if (!isJsonObject(item)) return 'associative list with keys may not have non-map elements'
  const names = plan.keys.map(({ name }) => JSON.stringify(name)).join(' ')
  return `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`
}

type Expected = 'map' | 'list' | 'string' | 'boolean' | 'numeric' | 'any scalar'

function expectedType({ schema }: FieldPlan): Expected | undefined {
  if (schema === undefined) return undefined
  if (schema['x-kubernetes-int-or-string'] === true || schema.format === 'quantity') return 'any scalar'
  switch (schema.type) {
    case 'object':
      return 'map'
    case 'array':
      return 'list'
    case 'integer':
    case 'number':
      return 'numeric'
    case 'string':
      return 'string'
    case 'boolean':
      return 'boolean'
    default:
      return undefined
  }
}

function fits(value: Json, expected: Expected): boolean {
  if (expected === 'any scalar') return true
  return typeof value === (expected === 'numeric' ? 'number' : expected)
}

function mismatch(value: Json, expected: Expected): string {
  if (expected === 'numeric') return `expected numeric (int or float), got ${goTypeName(value)}`
  if (expected === 'string') return `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`
  return `expected ${expected}, got &{${goValueText(value)}}`
}

function said(path: string, problem: string): string {
  return `${path}: ${problem}`
}
