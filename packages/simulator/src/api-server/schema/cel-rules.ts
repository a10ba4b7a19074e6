import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { type ASTNode, Optional } from '@marcbachmann/cel-js'
import { type CelBudget, isCelCostError } from './cel-cost.ts'
import { type CelProgram, celEnvironment, celProblem, compileCel } from './cel-environment.ts'
import { partsOf } from './cel-parts.ts'
import { celValue, escapedName } from './cel-value.ts'
import { type CompiledSchema, compiledSchema } from './compiled-schema.ts'
import type { FieldError, FieldErrorKind } from './field-error.ts'
import type { Schema, ValidationRule } from './schema.ts'

/** A rule of a schema, read: what to evaluate, or why it cannot be. */
export interface CompiledRule {
  readonly rule: ValidationRule
  readonly program: CelProgram | undefined
  readonly message: CelProgram | undefined
  readonly usesOldSelf: boolean
  readonly problem: string | undefined
  readonly messageProblem: string | undefined
}

const rulesOf = new WeakMap<CompiledSchema, readonly CompiledRule[]>()
let environment: ReturnType<typeof celEnvironment> | undefined

/** The CEL rules of one place in a schema, compiled once. */
export function compiledRules(node: CompiledSchema): readonly CompiledRule[] {
  let rules = rulesOf.get(node)
  if (rules === undefined) {
    rules = (node.schema['x-kubernetes-validations'] ?? []).map((rule) => compileRule(rule, node))
    rulesOf.set(node, rules)
  }
  return rules
}

/** As `compiledRules`, for a place that is known by its schema alone. */
export function compiledRulesOf(schema: Schema, isRoot: boolean): readonly CompiledRule[] {
  return compiledRules(compiledSchema(schema, isRoot))
}

function compileRule(rule: ValidationRule, node: CompiledSchema): CompiledRule {
  environment ??= celEnvironment(['self', 'oldSelf'])
  const typeOf = (ast: ASTNode) => celTypeOf(schemaAt(ast, node))
  const compiled = compileCel(environment, rule.rule, typeOf)
  const message = rule.messageExpression ? compileCel(environment, rule.messageExpression, typeOf) : undefined
  const ast = compiled.program?.ast
  return {
    rule,
    program: compiled.program,
    message: message?.program,
    usesOldSelf: ast !== undefined && names(ast).has('oldSelf'),
    problem:
      compiled.program === undefined
        ? `compilation failed: ${compiled.problem}`
        : resultProblem(compiled.type, ast, node),
    messageProblem:
      message?.problem === undefined ? undefined : `messageExpression compilation failed: ${message.problem}`,
  }
}

function resultProblem(type: string, ast: ASTNode | undefined, node: CompiledSchema): string | undefined {
  if (type !== 'bool' && type !== 'dyn') return 'cel expression must evaluate to a bool'
  const unknown = ast === undefined ? undefined : unknownField(ast, node)
  return unknown === undefined ? undefined : `compilation failed: undefined field '${unknown}'`
}

/** A value at its place. `previous` is what it was, where that is known. */
export interface RuledValue {
  readonly value: unknown
  readonly previous: unknown
  readonly node: CompiledSchema
  readonly field: string
  /** What all rules of the object may still cost. */
  readonly budget: CelBudget
}

/** What one value breaks among the rules of its place. Once the budget is spent nothing more is asked, and that is an error, too. */
export function* brokenRules({ value, previous, node, field, budget }: RuledValue): Generator<FieldError> {
  const rules = compiledRules(node)
  if (rules.length === 0 || value === null || budget.left < 0) return
  const self = celValue(value, node)
  const hasOld = previous !== undefined && previous !== null
  const oldSelf = hasOld ? celValue(previous, node) : undefined
  const isUnchanged = hasOld && isSameJson(value, previous)
  for (const compiled of rules) {
    const { rule, program, usesOldSelf } = compiled
    const isOptional = rule.optionalOldSelf === true
    if (usesOldSelf ? !hasOld && !isOptional : isUnchanged) continue
    if (program === undefined) {
      yield { kind: 'Invalid', field, value: node.type, detail: `rule compile error: ${compiled.problem}` }
      continue
    }
    const before = isOptional ? (hasOld ? Optional.of(oldSelf) : Optional.none()) : (oldSelf ?? null)
    const error = evaluate({ compiled, program, variables: { self, oldSelf: before }, node, field, value, budget })
    if (error !== undefined) yield error
    if (budget.left < 0) return
  }
}

interface Evaluation extends Omit<RuledValue, 'previous'> {
  readonly compiled: CompiledRule
  readonly program: CelProgram
  readonly variables: { readonly self: unknown; readonly oldSelf: unknown }
}

function evaluate({ compiled, program, variables, node, field, value, budget }: Evaluation): FieldError | undefined {
  const { rule } = compiled
  try {
    if (program(variables, budget) === true) return undefined
  } catch (error) {
    const problem = celProblem(error)
    const name = (rule.message ?? rule.rule).trim()
    if (isCelCostError(error)) {
      budget.left = -1
      const detail = `'${problem}': no further validation rules will be run due to call cost exceeds limit for rule: ${name}`
      return { kind: 'Invalid', field, value: node.type ?? '', detail }
    }
    const detail = /no such overload|no matching overload/.test(problem)
      ? `'${problem}': call arguments did not match a supported operator, function or macro signature for rule: ${name}`
      : `${problem} evaluating rule: ${name}`
    return { kind: 'Invalid', field, value: node.type ?? '', detail }
  }
  const detail = messageOf(compiled, variables, budget)
  const kind = kinds[rule.reason ?? ''] ?? 'Invalid'
  const at =
    rule.fieldPath === undefined
      ? field
      : `${field}${field === '' ? rule.fieldPath.replace(/^\./, '') : rule.fieldPath}`
  const isScalar = node.type !== 'object' && node.type !== 'array'
  return { kind, field: at, ...(isScalar ? { value } : {}), detail: kind === 'Duplicate' ? '' : detail }
}

const kinds: Readonly<Record<string, FieldErrorKind>> = {
  FieldValueInvalid: 'Invalid',
  FieldValueForbidden: 'Forbidden',
  FieldValueRequired: 'Required',
  FieldValueDuplicate: 'Duplicate',
}

/** The message for the writer. An expression that fails or gives no good line is passed over for the fixed text. */
function messageOf({ rule, message }: CompiledRule, variables: Evaluation['variables'], budget: CelBudget): string {
  if (message !== undefined) {
    try {
      const text: unknown = message(variables, budget)
      if (typeof text === 'string' && text.trim() !== '' && !text.includes('\n')) return text.trim()
    } catch {
      return rule.message?.trim() ?? `failed rule: ${rule.rule.trim()}`
    }
  }
  return rule.message?.trim() ?? `failed rule: ${rule.rule.trim()}`
}

function names(ast: ASTNode, found = new Set<string>()): Set<string> {
  if (ast.op === 'id') found.add(ast.args as string)
  for (const child of partsOf(ast)) names(child, found)
  return found
}

/** The first field that is read off `self` or `oldSelf` and that the schema does not have. */
function unknownField(ast: ASTNode, node: CompiledSchema): string | undefined {
  if (ast.op === '.') {
    const [target, field] = ast.args as [ASTNode, string]
    const inner = unknownField(target, node)
    if (inner !== undefined) return inner
    const holder = schemaAt(target, node)
    return holder !== undefined && isClosed(holder) && propertyOf(holder, field) === undefined ? field : undefined
  }
  for (const child of partsOf(ast)) {
    const unknown = unknownField(child, node)
    if (unknown !== undefined) return unknown
  }
  return undefined
}

function schemaAt(ast: ASTNode, node: CompiledSchema): CompiledSchema | undefined {
  if (ast.op === 'id') return ast.args === 'self' || ast.args === 'oldSelf' ? node : undefined
  if (ast.op !== '.') return undefined
  const [target, field] = ast.args as [ASTNode, string]
  const holder = schemaAt(target, node)
  return holder && propertyOf(holder, field)
}

/** The type that CEL gives to values of a schema; undefined where that is no plain one. */
function celTypeOf(place: CompiledSchema | undefined): string | undefined {
  if (place === undefined || place.intOrString || place.keepsUnknown) return undefined
  if (place.type !== 'string') return plainTypes[place.type ?? '']
  return place.schema.format === undefined ? 'string' : undefined
}

const plainTypes: Readonly<Record<string, string>> = { boolean: 'bool', integer: 'int', number: 'double' }

function isClosed({ type, additional, keepsUnknown }: CompiledSchema): boolean {
  return type === 'object' && additional === undefined && !keepsUnknown
}

function propertyOf({ properties }: CompiledSchema, escaped: string): CompiledSchema | undefined {
  const direct = properties.get(escaped)
  if (direct !== undefined) return direct
  for (const [name, property] of properties) if (escapedName(name) === escaped) return property
  return undefined
}
