import type { Environment } from '@marcbachmann/cel-js'
import { spendCel } from './cel-cost.ts'
import { isSameCel } from './cel-value.ts'
import { compiledPattern } from './value-rules.ts'

export function registerTextFunctions(environment: Environment): void {
  environment
    .registerFunction('string.matchesLinear(string): bool', (text: string, pattern: string) =>
      matcherOf(text, pattern).find(),
    )
    .registerFunction('string.find(string): string', (text: string, pattern: string) => {
      const matcher = matcherOf(text, pattern)
      return matcher.find() ? (matcher.group() ?? '') : ''
    })
    .registerFunction('string.findAll(string): list<string>', (text: string, pattern: string) => findAll(text, pattern))
    .registerFunction('string.findAll(string, int): list<string>', (text: string, pattern: string, most: bigint) =>
      findAll(text, pattern).slice(0, most < 0n ? undefined : Number(most)),
    )
    .registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
      replaceAll(text, from, to),
    )
    .registerFunction(
      'string.replace(string, string, int): string',
      (text: string, from: string, to: string, most: bigint) => replaceFirst(text, from, to, Number(most)),
    )
    .registerFunction('string.charAt(int): string', (text: string, index: bigint) => {
      if (index < 0n || index > BigInt(text.length)) throw new RangeError(`index out of range: ${index}`)
      return Array.from(text)[Number(index)] ?? ''
    })
    .registerFunction('string.reverse(): string', (text: string) => Array.from(text).reverse().join(''))
    .registerFunction('string.format(list): string', format)
}

/** A pattern may be tried at each character of a text. */
function matcherOf(text: string, pattern: string) {
  spendCel((text.length * pattern.length) / 40)
  return compiledPattern(pattern).matcher(text)
}

/** Texts that are put into texts grow without bound; they are paid for before they are made. */
function replaceAll(text: string, from: string, to: string): string {
  spendCel((text.split(from).length * to.length) / 10)
  return text.replaceAll(from, () => to)
}

function findAll(text: string, pattern: string): string[] {
  const matcher = matcherOf(text, pattern)
  const found: string[] = []
  while (matcher.find()) found.push(matcher.group() ?? '')
  return found
}

function replaceFirst(text: string, from: string, to: string, most: number): string {
  if (most < 0) return replaceAll(text, from, to)
  let result = text
  let at = 0
  for (let count = 0; count < most; count += 1) {
    const next = result.indexOf(from, at)
    if (next < 0) break
    spendCel(result.length / 10)
    result = result.slice(0, next) + to + result.slice(next + from.length)
    at = next + to.length
  }
  return result
}

function format(pattern: string, values: readonly unknown[]): string {
  let next = 0
  return pattern.replace(
    /%(%|(?:\.(\d+))?([sdfexXob]))/g,
    (_, whole: string, digits: string | undefined, verb: string) => {
      if (whole === '%') return '%'
      if (next >= values.length) throw new RangeError(`index ${next} out of range`)
      const value = values[next]
      next += 1
      return formatted(value, verb, digits)
    },
  )
}

function formatted(value: unknown, verb: string, digits: string | undefined): string {
  switch (verb) {
    case 'f':
      return Number(value).toFixed(digits === undefined ? 6 : Number(digits))
    case 'e':
      return Number(value).toExponential(digits === undefined ? 6 : Number(digits))
    case 'x':
      return BigInt(value as bigint).toString(16)
    case 'X':
      return BigInt(value as bigint)
        .toString(16)
        .toUpperCase()
    case 'o':
      return BigInt(value as bigint).toString(8)
    case 'b':
      return typeof value === 'boolean' ? String(value) : BigInt(value as bigint).toString(2)
    default:
      return celText(value)
  }
}

function celText(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return `[${value.map(celText).join(', ')}]`
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
    const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${fields.map(([field, inner]) => `${field}: ${celText(inner)}`).join(', ')}}`
  }
  return String(value)
}

/** `sets.contains(...)` and its kin are methods of this. */
class Sets {}

export function registerListFunctions(environment: Environment): void {
  environment
    .registerFunction('list.isSorted(): bool', (list: readonly unknown[]) =>
      list.every((item, index) => index === 0 || compare(list[index - 1], item) <= 0),
    )
    .registerFunction('list.sum(): dyn', sum)
    .registerFunction('list.min(): dyn', (list: readonly unknown[]) => extreme(list, 'min', -1))
    .registerFunction('list.max(): dyn', (list: readonly unknown[]) => extreme(list, 'max', 1))
    .registerFunction('list.indexOf(dyn): int', (list: readonly unknown[], wanted: unknown) =>
      BigInt(list.findIndex((item) => isSameCel(item, wanted))),
    )
    .registerFunction('list.lastIndexOf(dyn): int', (list: readonly unknown[], wanted: unknown) =>
      BigInt(list.findLastIndex((item) => isSameCel(item, wanted))),
    )
    .registerFunction('list.slice(int, int): list', (list: readonly unknown[], start: bigint, end: bigint) =>
      list.slice(Number(start), Number(end)),
    )
    .registerFunction('list.distinct(): list', (list: readonly unknown[]) =>
      list.filter((item, index) => list.findIndex((other) => isSameCel(item, other)) === index),
    )
    .registerFunction('list.reverse(): list', (list: readonly unknown[]) => [...list].reverse())
    .registerType('sets', Sets)
    .registerConstant('sets', 'sets', new Sets())
    .registerFunction('sets.contains(list, list): bool', (_: Sets, all: readonly unknown[], some: readonly unknown[]) =>
      isSubset(some, all),
    )
    .registerFunction(
      'sets.equivalent(list, list): bool',
      (_: Sets, a: readonly unknown[], b: readonly unknown[]) => isSubset(a, b) && isSubset(b, a),
    )
    .registerFunction('sets.intersects(list, list): bool', (_: Sets, a: readonly unknown[], b: readonly unknown[]) =>
      a.some((item) => b.some((other) => isSameCel(item, other))),
    )
}

function isSubset(some: readonly unknown[], all: readonly unknown[]): boolean {
  return some.every((item) => all.some((other) => isSameCel(item, other)))
}

function compare(left: unknown, right: unknown): number {
  const [a, b] = [left, right] as [bigint, bigint]
  return a < b ? -1 : a > b ? 1 : 0
}

function sum(list: readonly unknown[]): bigint | number {
  if (list.some((item) => typeof item === 'number'))
    return list.reduce<number>((total, item) => total + Number(item), 0)
  return (list as readonly bigint[]).reduce((total, item) => total + item, 0n)
}

function extreme(list: readonly unknown[], name: string, sign: number): unknown {
  if (list.length === 0) throw new RangeError(`${name} called on empty list`)
  return list.reduce((best, item) => (compare(item, best) * sign > 0 ? item : best))
}
