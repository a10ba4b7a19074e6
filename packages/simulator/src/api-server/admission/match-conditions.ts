import type { Environment } from '@marcbachmann/cel-js'
import { type CelCompilation, celEnvironment, celProblem, compileCel } from '../schema/cel-environment.ts'
import { celValue } from '../schema/cel-value.ts'
import type { ValidatingWebhook } from './webhook-configuration.ts'

let environment: Environment | undefined
const compiled = new Map<string, CelCompilation>()

/** What a condition can speak of. */
export interface ConditionVariables {
  readonly request: unknown
  readonly object: unknown
  readonly oldObject: unknown
}

export type ConditionOutcome =
  | { readonly matches: boolean; readonly error?: undefined }
  | { readonly matches: undefined; readonly error: string }

/** Why an expression cannot be a match condition; undefined when it can. */
export function matchConditionProblem(expression: string): string | undefined {
  const compilation = compile(expression)
  if (compilation.program === undefined) return `compilation failed: ${compilation.problem}`
  const isTruth = compilation.type === 'bool' || compilation.type === 'dyn'
  return isTruth ? undefined : 'must evaluate to bool'
}

/**
 * Whether all conditions of a webhook hold. One that is false decides, even when another cannot be evaluated: only then
 * is it an error.
 */
export function evaluateConditions(
  conditions: ValidatingWebhook['matchConditions'],
  variables: ConditionVariables,
): ConditionOutcome {
  if (conditions === undefined || conditions.length === 0) return { matches: true }
  const values = {
    request: celValue(variables.request),
    object: celValue(variables.object ?? null),
    oldObject: celValue(variables.oldObject ?? null),
  }
  const errors: string[] = []
  for (const { name, expression } of conditions) {
    const compilation = compile(expression)
    if (compilation.program === undefined) {
      errors.push(`${name}: ${compilation.problem}`)
      continue
    }
    try {
      if (compilation.program(values) !== true) return { matches: false }
    } catch (error) {
      errors.push(`expression '${expression}' resulted in error: ${celProblem(error)}`)
    }
  }
  return errors.length === 0 ? { matches: true } : { matches: undefined, error: errors.join(', ') }
}

function compile(expression: string): CelCompilation {
  let compilation = compiled.get(expression)
  if (compilation === undefined) {
    environment ??= celEnvironment(['request', 'object', 'oldObject'])
    compilation = compileCel(environment, expression)
    if (compiled.size > 1000) compiled.clear()
    compiled.set(expression, compilation)
  }
  return compilation
}
