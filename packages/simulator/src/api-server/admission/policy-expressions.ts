import type { Environment } from '@marcbachmann/cel-js'
import {
  type CelCompilation,
  type CelProgram,
  celEnvironment,
  celProblem,
  compileCel,
} from '../schema/cel-environment.ts'
import { registerAuthorizer } from './cel-authorizer.ts'

let environment: Environment | undefined
const compiled = new Map<string, CelCompilation>()

/** What the expressions of a policy speak of. */
export interface PolicyValues {
  readonly request: unknown
  readonly object: unknown
  readonly oldObject: unknown
  readonly authorizer: unknown
  readonly variables: Record<string, unknown>
}

/** Why an expression cannot be part of a policy; undefined when it can. */
export function policyExpressionProblem(expression: string): string | undefined {
  const { problem } = compile(expression)
  return problem === undefined ? undefined : `compilation failed: ${problem}`
}

/** @throws Error with the expression and what is wrong with it */
export function evaluatePolicyExpression(expression: string, values: PolicyValues): unknown {
  const { program, problem } = compile(expression)
  if (program === undefined) throw new Error(`expression '${expression}' cannot be compiled: ${problem}`)
  return run(program, expression, values)
}

function run(program: CelProgram, expression: string, values: PolicyValues): unknown {
  try {
    return program({ ...values })
  } catch (error) {
    throw new Error(`expression '${expression}' resulted in error: ${celProblem(error)}`)
  }
}

function compile(expression: string): CelCompilation {
  let compilation = compiled.get(expression)
  if (compilation === undefined) {
    if (environment === undefined) {
      environment = celEnvironment(['request', 'object', 'oldObject', 'variables'])
      registerAuthorizer(environment)
    }
    compilation = compileCel(environment, expression)
    if (compiled.size > 1000) compiled.clear()
    compiled.set(expression, compilation)
  }
  return compilation
}
