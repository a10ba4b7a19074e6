import { parseAst } from 'vitest/node'

export interface Text {
  readonly line: number
  readonly says: string
}

/** Stands for what is only known when the program runs. */
const hole = '…'

type SyntaxNode = { readonly type: string; readonly start: number } & Readonly<Record<string, unknown>>

/**
 * What a source file says to its users: literals and templates with more than one word, and the text of JSX.
 * Import paths, keys, types and what is only compared are not said to anybody.
 */
export function textsOfSource(source: string, lang: 'ts' | 'tsx'): Text[] {
  const texts: Text[] = []
  const add = (node: SyntaxNode, says: string) => {
    const line = source.slice(0, node.start).split('\n').length
    texts.push({ line, says: says.replace(/\s+/g, ' ').trim() })
  }
  const visit = (node: SyntaxNode) => {
    if (node.type === 'JSXText') return add(node, String(node.value))
    const says = wordsOf(node)
    if (says !== undefined && /\S\s+\S/.test(says)) add(node, says)
    for (const child of saidBy(node)) visit(child)
  }
  visit(parseAst(source, { lang }) as unknown as SyntaxNode)
  return texts.filter(({ says }) => /[A-Za-z]/.test(says))
}

/** A sentence that is put together with `+` is one sentence. */
function wordsOf(node: SyntaxNode): string | undefined {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node.type === 'TemplateLiteral') {
    return (node.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join(hole)
  }
  if (node.type !== 'BinaryExpression' || node.operator !== '+') return undefined
  const [left, right] = [wordsOf(node.left as SyntaxNode), wordsOf(node.right as SyntaxNode)]
  return left === undefined && right === undefined ? undefined : (left ?? hole) + (right ?? hole)
}

const comparisons = new Set(['==', '===', '!=', '!==', 'in'])

/** Attributes of elements that no reader sees. */
const forMachines = new Set(['class', 'd', 'id', 'key'])

function nameOf(node: unknown): string {
  return String((node as { readonly name?: unknown }).name)
}

function isId(node: SyntaxNode): boolean {
  return node.type === 'Property' && nameOf(node.key) === 'id'
}

/** The children whose words may reach a user. */
function saidBy(node: SyntaxNode): SyntaxNode[] {
  if (/^(Import|ExportAll)/.test(node.type)) return []
  if (node.type.startsWith('TS')) return isNode(node.expression) ? [node.expression] : []
  if ((node.type === 'JSXAttribute' && forMachines.has(nameOf(node.name))) || isId(node)) return []
  const unsaid = new Set<unknown>()
  if (node.type === 'Property' || node.type === 'PropertyDefinition') unsaid.add(node.key)
  if (node.type === 'MemberExpression') unsaid.add(node.property)
  if (node.type === 'SwitchCase') unsaid.add(node.test)
  if (node.type === 'ExportNamedDeclaration') unsaid.add(node.source)
  const isJoined = node.type === 'BinaryExpression' && node.operator === '+'
  const isCompared = node.type === 'BinaryExpression' && comparisons.has(String(node.operator))
  return Object.values(node)
    .flat()
    .filter(isNode)
    .filter((child) => !unsaid.has(child))
    .filter((child) => !(isCompared && child.type === 'Literal'))
    .flatMap((child) => (isJoined && wordsOf(child) !== undefined ? saidBy(child) : [child]))
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'
}
