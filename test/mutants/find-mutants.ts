import { changesOf } from './changes-of.ts'
import type { Mutant } from './mutant.ts'
import { isFunction, parseSource, runningChildren, type SyntaxNode } from './syntax.ts'

/** Every change that is tried in a source file, in the order of the text. */
export function findMutants(source: string): Mutant[] {
  const found = new Map<string, Mutant>()
  const visit = (
    node: SyntaxNode,
    parent: SyntaxNode | undefined,
    at: { isStatic: boolean; inChain: boolean },
  ): void => {
    for (const { of, becomes } of at.inChain ? [] : changesOf(node, parent, source)) {
      const was = source.slice(of.start, of.end)
      if (was === becomes) continue
      const line = source.slice(0, of.start).split('\n').length
      found.set(`${of.start} ${of.end} ${becomes}`, { ...rangeOf(of), line, was, becomes, isStatic: at.isStatic })
    }
    const isStatic = at.isStatic && !isFunction(node)
    for (const child of runningChildren(node)) {
      if (!isOrder(child, node)) visit(child, node, { isStatic, inChain: isInChain(child, node, at.inChain) })
    }
  }
  visit(parseSource(source), undefined, { isStatic: true, inChain: false })
  return [...found.values()].sort((one, other) => one.start - other.start || other.end - one.end)
}

function rangeOf({ start, end }: SyntaxNode): { start: number; end: number } {
  return { start, end }
}

/** In `a?.b.c(d)` the links cannot be put into parentheses without a change of meaning; `d` and `a` can. */
function isInChain(child: SyntaxNode, parent: SyntaxNode, parentIsIn: boolean): boolean {
  const isLink =
    child.type === 'CallExpression' || child.type === 'MemberExpression' || child.type === 'TSNonNullExpression'
  if (parent.type === 'ChainExpression') return isLink
  return parentIsIn && isLink && (parent.object === child || parent.callee === child || parent.expression === child)
}

/** What `sort` compares by: that it sorts at all is changed, and half of the changes in here would change nothing. */
function isOrder(child: SyntaxNode, parent: SyntaxNode): boolean {
  if (parent.type !== 'CallExpression' || !isFunction(child)) return false
  const { property } = parent.callee as SyntaxNode
  return ['sort', 'toSorted'].includes(String((property as SyntaxNode | undefined)?.name))
}
