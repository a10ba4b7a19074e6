import { describe, expect, it } from 'vitest'
import type { Schema, ValidationRule } from './schema.ts'
import { validateBySchema } from './validate.ts'

const properties: Record<string, Schema> = {
  items: { type: 'array', items: { type: 'integer' } },
  text: { type: 'string' },
  pattern: { type: 'string' },
}

function faultsOf(rules: readonly ValidationRule[], spec: object): string[] {
  const schema: Schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties, 'x-kubernetes-validations': rules } },
  }
  return validateBySchema({ spec }, schema).map(({ field, detail }) => `${field}: ${detail}`)
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)
const tenNumbers = `[${numbers(10).join()}]`
const loops = (depth: number): string => (depth === 0 ? 'true' : `${tenNumbers}.all(x${depth}, ${loops(depth - 1)})`)

/** Each would hold the server, and all who are served by it, for minutes or for ever. */
const attacks: Record<string, { rule: string; spec: object }> = {
  'loops in loops over nothing but literals': { rule: loops(12), spec: {} },
  'loops in loops over what the object holds': {
    rule: 'self.items.all(a, self.items.all(b, self.items.all(c, a + b + c >= 0)))',
    spec: { items: numbers(5_000) },
  },
  'a loop whose errors are passed over': {
    rule: 'self.items.exists(a, self.items.exists(b, self.items.exists(c, a / 0 == b + c))) || true',
    spec: { items: numbers(5_000) },
  },
  'a long text that is read for each of many items': {
    rule: 'self.items.all(a, !self.text.contains("b"))',
    spec: { items: numbers(50_000), text: 'a'.repeat(1_000_000) },
  },
  'a large object that is compared with itself for each of many items': {
    rule: 'self.items.all(a, self == self)',
    spec: { items: numbers(50_000) },
  },
  'a long pattern that is tried on a long text': {
    rule: '!self.text.matches(self.pattern)',
    spec: { text: 'a'.repeat(200_000), pattern: 'a?'.repeat(5_000) },
  },
  'a text that grows by itself': {
    rule: 'self.text.replace("a", self.text).replace("a", self.text).size() > 0',
    spec: { text: 'a'.repeat(100_000) },
  },
}

describe('a rule that costs more than a server can give', () => {
  for (const [sentence, { rule, spec }] of Object.entries(attacks)) {
    it(`is given up and refused: ${sentence}`, () => {
      expect(faultsOf([{ rule }], spec)).toEqual([
        `spec: 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: ${rule}`,
      ])
    })
  }

  it('ends the judgement of the object: the rules behind it are not run', () => {
    const rules = [{ rule: loops(12) }, { rule: 'false', message: 'never asked' }]
    expect(faultsOf(rules, {})).toEqual([expect.stringContaining('actual cost limit exceeded')])
  })

  it('is not one of many that are cheap: those are limited together', () => {
    const rule = 'self.items.all(a, self.items[0] <= a + 1 && a < 1000000)'
    const rules = numbers(40).map(() => ({ rule }))
    expect(faultsOf(rules.slice(0, 3), { items: numbers(50_000) })).toEqual([])
    expect(faultsOf(rules, { items: numbers(50_000) })).toEqual([expect.stringContaining('actual cost limit exceeded')])
  })

  it('does not cost another object anything', () => {
    const cheap = { rule: 'self.items.all(a, a >= 0)' }
    expect(faultsOf([{ rule: loops(12) }], {})).toHaveLength(1)
    expect(faultsOf([cheap], { items: numbers(1_000) })).toEqual([])
  })
})
