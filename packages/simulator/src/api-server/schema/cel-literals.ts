import type { ASTNode } from '@marcbachmann/cel-js'
import { partsOf } from './cel-parts.ts'

/** The type of an expression, as far as it is known before it is evaluated; undefined: it may be any. */
export type CelTypeOf = (ast: ASTNode) => string | undefined

/** What the checker of the library noted on a node. */
interface Checked {
  readonly checkedType?: { readonly name: string }
}

/**
 * Items of one list, keys of one map and values of one map have one type each: the real server takes no other literals, but for what is
 * formatted. Only what is known for sure counts; `dyn(…)` is a type of its own.
 *
 * @param ast an expression that was checked
 */
export function mixedLiteral(ast: ASTNode, typeOf: CelTypeOf, isFormatted = false): string | undefined {
  for (const items of isFormatted ? [] : literalItems(ast)) {
    const [first, ...more] = items.flatMap((item) => knownType(item, typeOf) ?? [])
    const other = more.find((type) => type !== first)
    if (other !== undefined) return `expected type '${first}' but found '${other}'`
  }
  for (const part of partsOf(ast)) {
    const problem = mixedLiteral(part, typeOf, callOf(ast) === 'format')
    if (problem !== undefined) return problem
  }
  return undefined
}

function literalItems(ast: ASTNode): readonly (readonly ASTNode[])[] {
  if (ast.op === 'list') return [ast.args]
  if (ast.op !== 'map') return []
  const entries = ast.args as unknown as readonly (readonly [ASTNode, ASTNode])[]
  return [entries.map(([key]) => key), entries.map(([, value]) => value)]
}

function callOf(ast: ASTNode): string | undefined {
  return ast.op === 'call' || ast.op === 'rcall' ? ast.args[0] : undefined
}

function knownType(ast: ASTNode, typeOf: CelTypeOf): string | undefined {
  if (callOf(ast) === 'dyn') return 'dyn'
  const name = typeOf(ast) ?? (ast as Checked).checkedType?.name
  // With a letter for what is left open, as in the type of an empty list.
  return name === undefined || /\bdyn\b|\b[A-Z]\b|^optional|^ast$/.test(name) ? undefined : name
}
