import type { Mutant } from './mutant.ts'
import { isNode, parseSource, runningChildren, type SyntaxNode } from './syntax.ts'

type Woven = Pick<Mutant, 'start' | 'end' | 'becomes'> & { readonly id: number }

/**
 * The source with all its mutants: `a < b` becomes `(mutant(7)?(a <= b):(a < b))`, where `mutant` says whether that one is active.
 * Lines stay where they are.
 */
export function weaveMutants(source: string, mutants: readonly Woven[]): string {
  const sorted = [...mutants].sort((one, other) => one.start - other.start || other.end - one.end)
  const breaks = statementStarts(parseSource(source))
  const render = (start: number, end: number, from: number): { text: string; next: number } => {
    let [text, at, next] = ['', start, from]
    while (next < sorted.length && (sorted[next] as Woven).start < end) {
      const outer = sorted[next] as Woven
      const same = sorted.slice(next).filter((one) => one.start === outer.start && one.end === outer.end)
      const separator = breaks.delete(outer.start) ? ';' : ''
      const inner = render(outer.start, outer.end, next + same.length)
      const choices = same.map(({ id, becomes }) => `__mutant(${id})?(${becomes}):`).join('')
      text += `${source.slice(at, outer.start)}${separator}(${choices}(${inner.text}))`
      at = outer.end
      next = inner.next
    }
    return { text: text + source.slice(at, end), next }
  }
  return `const __mutant = globalThis.__cofferdamMutant;${render(0, source.length, 0).text}`
}

/** Where a statement begins with an expression: without a semicolon before it, a parenthesis would call what is on the line above. */
function statementStarts(program: SyntaxNode): Set<number> {
  const starts = new Set<number>()
  const visit = (node: SyntaxNode): void => {
    for (const statement of [node.body, node.consequent].flat()) {
      const isInList = Array.isArray(node.body) || Array.isArray(node.consequent)
      if (isInList && isNode(statement) && statement.type === 'ExpressionStatement') starts.add(statement.start)
    }
    runningChildren(node).forEach(visit)
  }
  visit(program)
  return starts
}
