import type { ASTNode } from '@marcbachmann/cel-js'
import { partsOf } from './cel-parts.ts'

/** What may be spent while expressions are evaluated. */
export interface CelBudget {
  left: number
}

/** So much one expression may cost, and so much all rules of one object together; both as in the real server. */
const perCallLimit = 1_000_000
const perObjectLimit = 10_000_000

export function celBudgetOfObject(): CelBudget {
  return { left: perObjectLimit }
}

/** In the words of the real server. */
class CelCostError extends Error {
  override readonly name = 'CelCostError'
}
// One for all: a loop that swallows errors would else make one for each item that is left.
const exceeded = new CelCostError('operation cancelled: actual cost limit exceeded')

export function isCelCostError(error: unknown): boolean {
  return error instanceof CelCostError
}

/** Of the expression that is being evaluated; evaluation waits for nothing, so there is one at a time. */
let current: CelBudget = { left: 0 }

/** @throws CelCostError when nothing is left */
export function spendCel(cost: number): void {
  current.left -= cost
  if (current.left < 0) throw exceeded
}

/** Evaluates under a budget; what the expression cost is taken from it. */
export function withinCelBudget<T>(budget: CelBudget, evaluate: () => T): T {
  const outer = current
  const limit = Math.min(perCallLimit, budget.left)
  const own = { left: limit }
  current = own
  try {
    const result = evaluate()
    // Errors may be passed over by || and by loops; this one is not.
    if (own.left < 0) throw exceeded
    return result
  } finally {
    current = outer
    budget.left -= limit - own.left
  }
}

type Evaluate = (this: ASTNode, evaluator: unknown, ast: ASTNode, context: unknown) => unknown

/** Operations that read their operands as a whole and do not only pass them on. */
const readers = new Set(['==', '!=', 'in', '+', 'call', 'rcall'])

/**
 * Makes an expression count what it does: each part that is evaluated costs one, and texts, lists and maps that are read as a whole cost
 * by their size. Rules come from users and are evaluated in the process that serves all others; a loop in a loop would stop it for minutes.
 */
export function countCost(ast: ASTNode, isRead = false): void {
  let inner = Object.getPrototypeOf(ast).evaluate as Evaluate
  const evaluate: Evaluate = (evaluator, node, context) => {
    spendCel(1)
    const value = evaluateOrPay(() => inner.call(ast, evaluator, node, context))
    if (isRead) spendCel(sizeOf(value) / 10)
    return value
  }
  // A node replaces the way it is evaluated as soon as it knows a shorter one.
  Object.defineProperty(ast, 'evaluate', {
    get: () => evaluate,
    set: (next: Evaluate) => {
      inner = next
    },
  })
  for (const part of partsOf(ast)) countCost(part, readers.has(ast.op))
}

/** An error is made with its place in the source and in the program, and a loop may pass over one for each item. */
const errorCost = 30

function evaluateOrPay(evaluate: () => unknown): unknown {
  try {
    return evaluate()
  } catch (error) {
    if (!isCelCostError(error)) spendCel(errorCost)
    throw error
  }
}

const sizes = new WeakMap<object, number>()

/** Characters and items, all the way down; each object is measured once. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 1
  const known = sizes.get(value)
  if (known !== undefined) return known
  let size = 1
  if (value instanceof Map) for (const [key, item] of value) size += sizeOf(key) + sizeOf(item)
  else if (Array.isArray(value)) for (const item of value) size += sizeOf(item)
  else if (value instanceof Uint8Array) size += value.length
  else for (const key in value) size += key.length + sizeOf((value as Record<string, unknown>)[key])
  sizes.set(value, size)
  return size
}
