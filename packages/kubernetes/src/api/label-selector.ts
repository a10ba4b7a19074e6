export interface LabelSelectorRequirement {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  readonly values?: readonly string[]
}

/** The selector that objects carry in their spec. Empty selects everything. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly LabelSelectorRequirement[]
}

export type Labels = Readonly<Record<string, string>>

export function isSelected(selector: LabelSelector, labels: Labels = {}): boolean {
  for (const key in selector.matchLabels) if (labels[key] !== selector.matchLabels[key]) return false
  const { matchExpressions } = selector
  return matchExpressions === undefined || matchExpressions.every((requirement) => meets(requirement, labels))
}

function meets({ key, operator, values = [] }: LabelSelectorRequirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
  }
}

/** The form a selector takes in a query string: `app=web,tier in (a,b),!canary`. */
export function selectorText(selector: LabelSelector): string {
  const labels = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`)
  const expressions = (selector.matchExpressions ?? []).map(requirementText)
  return [...labels, ...expressions].join(',')
}

function requirementText({ key, operator, values = [] }: LabelSelectorRequirement): string {
  switch (operator) {
    case 'In':
      return `${key} in (${values.join(',')})`
    case 'NotIn':
      return `${key} notin (${values.join(',')})`
    case 'Exists':
      return key
    case 'DoesNotExist':
      return `!${key}`
  }
}

/**
 * Reads the query-string form.
 *
 * @throws RangeError that names the part which cannot be read
 */
export function parseLabelSelector(text: string): LabelSelector {
  const matchExpressions: LabelSelectorRequirement[] = []
  if (text.trim() === '') return { matchExpressions }
  for (const part of splitOutsideParentheses(text)) {
    if (part === '') throw new RangeError("found ',', expected: identifier after ','")
    matchExpressions.push(parseRequirement(part))
  }
  return { matchExpressions }
}

const namePattern = /^([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/
const valuePattern = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/

function parseRequirement(part: string): LabelSelectorRequirement {
  const set = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(part)
  if (set) {
    const values = (set[3] as string).split(',').map((value) => checkedValue(value.trim(), part))
    return { key: checkedKey(set[1] as string, part), operator: set[2] === 'in' ? 'In' : 'NotIn', values }
  }
  const equality = /^([^=!\s]+)\s*(==|=|!=)\s*(\S*)$/.exec(part)
  if (equality) {
    const [, key, operator, value] = equality as unknown as [string, string, string, string]
    const values = [checkedValue(value, part)]
    return { key: checkedKey(key, part), operator: operator === '!=' ? 'NotIn' : 'In', values }
  }
  if (part.startsWith('!')) return { key: checkedKey(part.slice(1).trim(), part), operator: 'DoesNotExist' }
  return { key: checkedKey(part, part), operator: 'Exists' }
}

function checkedKey(key: string, part: string): string {
  if (!namePattern.test(key)) throw new RangeError(`unable to parse requirement "${part}": "${key}" is not a label key`)
  return key
}

function checkedValue(value: string, part: string): string {
  if (value.length > 63 || !valuePattern.test(value)) {
    throw new RangeError(`unable to parse requirement "${part}": "${value}" is not a label value`)
  }
  return value
}

function splitOutsideParentheses(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '(') depth += 1
    else if (text[at] === ')') depth -= 1
    else if (text[at] === ',' && depth === 0) {
      parts.push(text.slice(start, at).trim())
      start = at + 1
    }
  }
  parts.push(text.slice(start).trim())
  return parts
}
