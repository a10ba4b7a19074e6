import { type ASTNode, Environment } from '@marcbachmann/cel-js'
import { type CelBudget, celBudgetOfObject, countCost, withinCelBudget } from './cel-cost.ts'
import { registerListFunctions, registerTextFunctions } from './cel-functions.ts'
import { type CelTypeOf, mixedLiteral } from './cel-literals.ts'
import { registerNetworkFunctions } from './cel-network-functions.ts'
import { registerQuantityFunctions } from './cel-quantity-functions.ts'

/** An expression that was understood, ready to be evaluated. What it costs is limited, and taken from the budget where there is one. */
export interface CelProgram {
  (variables: Readonly<Record<string, unknown>>, budget?: CelBudget): unknown
  readonly ast: ASTNode
}

let base: Environment | undefined

/** CEL with the functions Kubernetes adds and the given variables, whose types show only when they are evaluated. */
export function celEnvironment(variables: readonly string[]): Environment {
  base ??= buildBase()
  const environment = base.clone()
  for (const variable of variables) environment.registerVariable(variable, 'dyn')
  return environment
}

function buildBase(): Environment {
  const environment = new Environment({
    unlistedVariablesAreDyn: false,
    enableOptionalTypes: true,
    homogeneousAggregateLiterals: false,
  })
  registerTextFunctions(environment)
  registerListFunctions(environment)
  registerQuantityFunctions(environment)
  registerNetworkFunctions(environment)
  return environment
}

export type CelCompilation =
  | { readonly program: CelProgram; readonly type: string; readonly problem?: undefined }
  | { readonly program?: undefined; readonly problem: string }

/** Reads an expression; when it cannot be understood, says why in one line. */
export function compileCel(
  environment: Environment,
  source: string,
  typeOf: CelTypeOf = () => undefined,
): CelCompilation {
  try {
    const linear = withLinearMatching(source)
    const read = environment.parse(linear)
    const checked = read.check()
    if (!checked.valid) return { problem: celProblem(checked.error) }
    const mixed = mixedLiteral(read.ast, typeOf)
    if (mixed !== undefined) return { problem: mixed }
    return { program: meteredProgram(environment.parse(linear)), type: String(checked.type) }
  } catch (error) {
    return { problem: celProblem(error) }
  }
}

function meteredProgram(parsed: ReturnType<Environment['parse']>): CelProgram {
  const { ast } = parsed
  countCost(ast)
  const program = (variables: Readonly<Record<string, unknown>>, budget = celBudgetOfObject()) =>
    withinCelBudget(budget, () => parsed({ ...variables }))
  return Object.assign(program, { ast })
}

/** The first line of what the library says; the rest draws the place in the source. */
export function celProblem(error: unknown): string {
  const { summary, message } = error as { summary?: string; message?: string }
  return (summary ?? message ?? String(error)).split('\n')[0] as string
}

/**
 * Expressions come from users, and CEL promises that matching takes linear time. The library's own `matches` does not
 * and cannot be replaced, so calls of it are turned into calls of ours; text literals are left alone.
 */
function withLinearMatching(source: string): string {
  return source.replace(
    /r?("""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|\.matches(?=\s*\()/g,
    (found, literal: string | undefined) => (literal === undefined ? '.matchesLinear' : found),
  )
}
