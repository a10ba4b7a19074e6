import type { ASTNode } from '@marcbachmann/cel-js'

/** What an expression is made of, one level down. */
export function partsOf(ast: ASTNode): ASTNode[] {
  const found: ASTNode[] = []
  const collect = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) collect(item)
    else if (typeof value === 'object' && value !== null && 'op' in value) found.push(value as ASTNode)
  }
  collect(ast.args)
  return found
}
