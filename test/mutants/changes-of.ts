import { isNode, type SyntaxNode } from './syntax.ts'

export interface Change {
  /** What is replaced. */
  readonly of: SyntaxNode
  readonly becomes: string
}

const operators: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '&&': ['||'],
  '||': ['&&'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '+=': ['-='],
  '-=': ['+='],
}

/** What is called instead. */
const otherMethods: Readonly<Record<string, string>> = {
  some: 'every',
  every: 'some',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
  min: 'max',
  max: 'min',
}
/** What is left out: `list.filter(f)` becomes `list`. */
const leftOut = new Set(['filter', 'sort', 'toSorted', 'slice', 'reverse', 'toReversed'])

/** The changes of one node: one comparison, operator, condition, constant, return, list or statement at a time. */
export function changesOf(node: SyntaxNode, parent: SyntaxNode | undefined, source: string): Change[] {
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
      return [...otherOperators(node, source), ...operandsOf(node, source)]
    case 'AssignmentExpression':
      return otherOperators(node, source)
    case 'UnaryExpression':
      return node.operator === '!' ? [{ of: node, becomes: textOf(node.argument, source) }] : []
    case 'IfStatement':
    case 'ConditionalExpression':
      return ['true', 'false'].map((becomes) => ({ of: node.test as SyntaxNode, becomes }))
    case 'WhileStatement':
      return [{ of: node.test as SyntaxNode, becomes: 'false' }]
    case 'Literal':
      return literals(node, parent)
    case 'ArrayExpression':
      return (node.elements as unknown[]).length > 0 ? [{ of: node, becomes: '[]' }] : []
    case 'CallExpression':
      return calls(node, source)
    case 'ReturnStatement':
      return returns(node)
    case 'ExpressionStatement':
      return effects(node)
    default:
      return []
  }
}

function otherOperators(node: SyntaxNode, source: string): Change[] {
  const [left, right] = [node.left, node.right] as [SyntaxNode, SyntaxNode]
  const operator = String(node.operator)
  if (operator === '+' && [left, right].some(isText)) return []
  return (operators[operator] ?? []).map((other) => {
    const between = source.slice(left.end, right.start).replace(operator, other)
    return { of: node, becomes: source.slice(node.start, left.end) + between + source.slice(right.start, node.end) }
  })
}

function isText({ type, value }: SyntaxNode): boolean {
  return type === 'TemplateLiteral' || typeof value === 'string'
}

/** A condition less: `a && b` becomes `a`, and `b`. */
function operandsOf(node: SyntaxNode, source: string): Change[] {
  if (node.type !== 'LogicalExpression') return []
  return [node.left, node.right].map((side) => ({ of: node, becomes: textOf(side, source) }))
}

function literals(node: SyntaxNode, parent: SyntaxNode | undefined): Change[] {
  if (typeof node.value === 'boolean') return [{ of: node, becomes: String(!node.value) }]
  if (typeof node.value === 'number') return [{ of: node, becomes: String(node.value + 1) }]
  const isReason = parent?.type === 'Property' && (parent.key as SyntaxNode).name === 'reason'
  return isReason && typeof node.value === 'string' ? [{ of: node, becomes: "''" }] : []
}

function calls(node: SyntaxNode, source: string): Change[] {
  const callee = node.callee as SyntaxNode
  if (callee.type !== 'MemberExpression' || callee.computed === true) return []
  const property = callee.property as SyntaxNode
  const name = String(property.name)
  if (leftOut.has(name)) return [{ of: node, becomes: textOf(callee.object, source) }]
  const other = Object.hasOwn(otherMethods, name) ? otherMethods[name] : undefined
  if (other === undefined) return []
  return [
    { of: node, becomes: source.slice(node.start, property.start) + other + source.slice(property.end, node.end) },
  ]
}

function returns(node: SyntaxNode): Change[] {
  const { argument } = node
  if (!isNode(argument) || argument.type === 'Literal' || argument.name === 'undefined') return []
  return [{ of: argument, becomes: 'undefined' }]
}

function effects(node: SyntaxNode): Change[] {
  const expression = node.expression as SyntaxNode
  return /^(Call|Await|Assignment|Update)Expression$/.test(expression.type)
    ? [{ of: expression, becomes: 'undefined' }]
    : []
}

function textOf(node: unknown, source: string): string {
  const { start, end } = node as SyntaxNode
  return source.slice(start, end)
}
