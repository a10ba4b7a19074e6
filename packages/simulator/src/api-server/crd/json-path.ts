import { isJsonObject } from '@cofferdam/kubernetes/api/json.ts'

/** Finds the values a path leads to, in the order of the document. */
export type JsonPath = (document: unknown) => unknown[]

type Step = (value: unknown) => readonly unknown[]

/**
 * Reads the JSONPath of kubectl and printer columns: `.spec.replicas`, `.metadata.labels['a.b/c']`, `.items[0]`,
 * `.items[*].name`, `.items[0:2]`, `..name`, `.conditions[?(@.type=="Ready")].status`; braces around it may be there or not.
 *
 * @throws RangeError that says what cannot be read
 */
export function compileJsonPath(text: string): JsonPath {
  const bare = text.startsWith('{') && text.endsWith('}') ? text.slice(1, -1) : text
  const reader = new PathReader(bare.startsWith('$') ? bare.slice(1) : bare)
  const steps = reader.readSteps()
  if (!reader.isAtEnd) throw reader.problem('unexpected text')
  return (document) => steps.reduce<unknown[]>((values, step) => values.flatMap((value) => step(value)), [document])
}

class PathReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length
  }

  problem(what: string): RangeError {
    return new RangeError(`${what} at ${this.#at} of the path ${JSON.stringify(this.#text)}`)
  }

  readSteps(): Step[] {
    const steps: Step[] = []
    while (!this.isAtEnd) {
      if (this.#takes('..')) steps.push(everywhere(this.#readName()))
      else if (this.#takes('.')) {
        if (this.isAtEnd && steps.length === 0) return steps
        if (this.#takes('*')) steps.push(children)
        else if (this.#text[this.#at] !== '[') steps.push(field(this.#readName()))
      } else if (this.#takes('[')) steps.push(this.#readBrackets())
      else break
    }
    return steps
  }

  #takes(expected: string): boolean {
    if (!this.#text.startsWith(expected, this.#at)) return false
    this.#at += expected.length
    return true
  }

  /** A backslash makes a dot part of the name. */
  #readName(): string {
    const match = /^(?:\\.|[^.[\]{}()\s=!<>])+/.exec(this.#text.slice(this.#at))
    if (!match) throw this.problem('expected a field name')
    this.#at += match[0].length
    return match[0].replace(/\\(.)/g, '$1')
  }

  #readBrackets(): Step {
    if (this.#takes('?(')) return this.#readFilter()
    const rest = this.#text.slice(this.#at)
    const quoted = /^(['"])((?:\\.|(?!\1).)*)\1\]/.exec(rest)
    const slice = /^(-?\d*):(-?\d*)\]/.exec(rest)
    const index = /^(-?\d+)\]/.exec(rest)
    const star = /^\*\]/.exec(rest)
    const match = quoted ?? slice ?? index ?? star
    if (!match) throw this.problem('expected an index, a quoted name, * or a filter')
    this.#at += match[0].length
    if (quoted) return field((quoted[2] as string).replace(/\\(.)/g, '$1'))
    if (slice) return section(numberOr(slice[1], 0), numberOr(slice[2], undefined))
    return index ? item(Number(index[1])) : children
  }

  #readFilter(): Step {
    this.#skipSpace()
    if (!this.#takes('@')) throw this.problem('expected @')
    const left = this.readSteps()
    this.#skipSpace()
    const operator = /^(==|!=|<=|>=|<|>)/.exec(this.#text.slice(this.#at))?.[0]
    let test = (value: unknown): boolean => valuesAt(left, value).length > 0
    if (operator !== undefined) {
      this.#at += operator.length
      this.#skipSpace()
      const wanted = this.#readLiteral()
      test = (value) => valuesAt(left, value).some((found) => compares(found, operator, wanted))
    }
    this.#skipSpace()
    if (!this.#takes(')]')) throw this.problem('expected )]')
    return (value) => (Array.isArray(value) ? value.filter(test) : [])
  }

  #readLiteral(): unknown {
    const match = /^(?:'((?:\\.|[^'])*)'|"((?:\\.|[^"])*)"|(-?\d+(?:\.\d+)?)|(true|false))/.exec(
      this.#text.slice(this.#at),
    )
    if (!match) throw this.problem('expected a quoted text, a number, true or false')
    this.#at += match[0].length
    if (match[3] !== undefined) return Number(match[3])
    if (match[4] !== undefined) return match[4] === 'true'
    return (match[1] ?? match[2] ?? '').replace(/\\(.)/g, '$1')
  }

  #skipSpace(): void {
    while (this.#text[this.#at] === ' ') this.#at += 1
  }
}

function valuesAt(steps: readonly Step[], value: unknown): unknown[] {
  return steps.reduce<unknown[]>((values, step) => values.flatMap((each) => step(each)), [value])
}

function field(name: string): Step {
  return (value) =>
    isJsonObject(value) && Object.hasOwn(value, name) && value[name] !== undefined ? [value[name]] : []
}

function item(index: number): Step {
  return (value) => {
    if (!Array.isArray(value)) return []
    const at = index < 0 ? value.length + index : index
    return at >= 0 && at < value.length ? [value[at]] : []
  }
}

function section(start: number, end: number | undefined): Step {
  return (value) => (Array.isArray(value) ? value.slice(start, end) : [])
}

function children(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return isJsonObject(value) ? Object.values(value) : []
}

function everywhere(name: string): Step {
  const find = (value: unknown): unknown[] => [
    ...(isJsonObject(value) && Object.hasOwn(value, name) ? [value[name]] : []),
    ...children(value).flatMap(find),
  ]
  return find
}

function numberOr<T>(text: string | undefined, otherwise: T): number | T {
  return text === undefined || text === '' ? otherwise : Number(text)
}

function compares(found: unknown, operator: string, wanted: unknown): boolean {
  switch (operator) {
    case '==':
      return found === wanted
    case '!=':
      return found !== wanted
    default:
      return typeof found === 'number' && typeof wanted === 'number' && inOrder(found, operator, wanted)
  }
}

function inOrder(left: number, operator: string, right: number): boolean {
  if (operator === '<') return left < right
  if (operator === '<=') return left <= right
  return operator === '>' ? left > right : left >= right
}
