import { parseAst } from 'vitest/node'

export type SyntaxNode = { readonly type: string; readonly start: number; readonly end: number } & Readonly<
  Record<string, unknown>
>

export function parseSource(source: string): SyntaxNode {
  return parseAst(source, { lang: 'ts' }) as unknown as SyntaxNode
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'
}

export function isFunction({ type }: SyntaxNode): boolean {
  return type === 'FunctionDeclaration' || type === 'FunctionExpression' || type === 'ArrowFunctionExpression'
}

/** The children that run: no types, no imports, no names of properties. */
export function runningChildren(node: SyntaxNode): SyntaxNode[] {
  if (/^(Import|ExportAll)/.test(node.type)) return []
  if (node.type.startsWith('TS')) return isNode(node.expression) ? [node.expression] : []
  const names = new Set<unknown>()
  if (node.computed !== true) {
    if (node.type === 'MemberExpression') names.add(node.property)
    if (/^(Property|PropertyDefinition|MethodDefinition)$/.test(node.type)) names.add(node.key)
  }
  return Object.values(node)
    .flat()
    .filter(isNode)
    .filter((child) => !names.has(child))
}
