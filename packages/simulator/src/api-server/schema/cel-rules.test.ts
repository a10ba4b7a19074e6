import { describe, expect, it } from 'vitest'
import { compiledRulesOf } from './cel-rules.ts'
import { invalidObject } from './field-error.ts'
import type { Schema, ValidationRule } from './schema.ts'
import { validateBySchema } from './validate.ts'

const properties: Record<string, Schema> = {
  min: { type: 'integer' },
  max: { type: 'integer' },
  ratio: { type: 'number' },
  name: { type: 'string' },
  tags: { type: 'array', items: { type: 'string' } },
  since: { type: 'string', format: 'date-time' },
  every: { type: 'string', format: 'duration' },
  'node-count': { type: 'integer' },
  namespace: { type: 'string' },
  limit: { type: 'string' },
  labels: { type: 'object', additionalProperties: { type: 'string' } },
}

function schemaOf(rules: readonly ValidationRule[]): Schema {
  return {
    type: 'object',
    properties: { spec: { type: 'object', properties, 'x-kubernetes-validations': rules } },
  }
}

interface Case {
  rule: ValidationRule
  spec: object
  previous?: object
  then: string[]
}

const cases: Record<string, Case> = {
  'a rule that holds says nothing': {
    rule: { rule: 'self.min <= self.max' },
    spec: { min: 1, max: 2 },
    then: [],
  },
  'a rule that does not hold is told in its own words': {
    rule: { rule: 'self.min <= self.max', message: 'min must not be above max' },
    spec: { min: 3, max: 2 },
    then: ['spec: Invalid value: min must not be above max'],
  },
  'without a message the rule itself is told': {
    rule: { rule: 'self.min <= self.max' },
    spec: { min: 3, max: 2 },
    then: ['spec: Invalid value: failed rule: self.min <= self.max'],
  },
  'a message may be made from the values': {
    rule: { rule: 'self.min <= self.max', messageExpression: '"%d is above %d".format([self.min, self.max])' },
    spec: { min: 3, max: 2 },
    then: ['spec: Invalid value: 3 is above 2'],
  },
  'a message expression that fails gives way to the message': {
    rule: { rule: 'false', message: 'plain', messageExpression: 'self.name' },
    spec: {},
    then: ['spec: Invalid value: plain'],
  },
  'a rule may point to the field it is about, and say of what kind the problem is': {
    rule: { rule: 'has(self.name)', fieldPath: '.name', reason: 'FieldValueRequired', message: 'name it' },
    spec: {},
    then: ['spec.name: Required value: name it'],
  },
  'reading a field that is not there is an error of the object, with the rule': {
    rule: { rule: 'self.min > 0', message: 'min must be positive' },
    spec: {},
    then: ['spec: Invalid value: "object": No such key: min evaluating rule: min must be positive'],
  },
  'a transition rule rests while there is nothing to compare with': {
    rule: { rule: 'self.min >= oldSelf.min' },
    spec: { min: 1 },
    then: [],
  },
  'a transition rule compares with what was stored': {
    rule: { rule: 'self.min >= oldSelf.min', message: 'min only grows' },
    spec: { min: 1 },
    previous: { min: 2 },
    then: ['spec: Invalid value: min only grows'],
  },
  'with an optional past the rule also judges the beginning': {
    rule: { rule: 'oldSelf.hasValue() || self.min == 0', optionalOldSelf: true, message: 'starts at 0' },
    spec: { min: 1 },
    then: ['spec: Invalid value: starts at 0'],
  },
  'whole numbers are ints, numbers are doubles': {
    rule: { rule: 'self.min / 2 == 1 && self.ratio / 2.0 == 1.5' },
    spec: { min: 3, ratio: 3 },
    then: [],
  },
  'times and durations can be compared': {
    rule: { rule: 'self.since < timestamp("2025-01-01T00:00:00Z") && self.every >= duration("1m")' },
    spec: { since: '2024-05-01T00:00:00Z', every: '90s' },
    then: [],
  },
  'names that CEL cannot read are spelled out': {
    rule: { rule: 'self.node__dash__count == 3 && self.__namespace__ == "a"' },
    spec: { 'node-count': 3, namespace: 'a' },
    then: [],
  },
  'lists have the functions Kubernetes adds': {
    rule: { rule: 'self.tags.isSorted() && self.tags.indexOf("b") == 1 && sets.contains(self.tags, ["a"])' },
    spec: { tags: ['a', 'b'] },
    then: [],
  },
  'quantities are compared by size, not by text': {
    rule: { rule: 'quantity(self.limit).isLessThan(quantity("1Gi"))' },
    spec: { limit: '1000Mi' },
    then: [],
  },
  'addresses and URLs can be taken apart': {
    rule: { rule: 'cidr("10.0.0.0/8").containsIP(self.name) && url("https://a.b:8443/c").getHost() == "a.b:8443"' },
    spec: { name: '10.1.2.3' },
    then: [],
  },
  'patterns match in linear time and know flags; text that looks like a call is left alone': {
    rule: { rule: 'self.name.matches("(?i)^A.+$") && ".matches(" != ""' },
    spec: { name: 'abc' },
    then: [],
  },
  'keys of maps are not renamed': {
    rule: { rule: '"a-b" in self.labels && self.labels.all(key, self.labels[key] != "")' },
    spec: { labels: { 'a-b': 'x' } },
    then: [],
  },
  'rules are not tried on a value of the wrong shape': {
    rule: { rule: 'self.min > 0' },
    spec: { min: 'one' },
    then: [
      'spec.min: Invalid value: "string": spec.min in body must be of type integer: "string"',
      '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
    ],
  },
  'a value that was wrong before and did not change is let be': {
    rule: { rule: 'self.min > 0' },
    spec: { min: 0 },
    previous: { min: 0 },
    then: [],
  },
}

describe('x-kubernetes-validations', () => {
  for (const [sentence, { rule, spec, previous, then }] of Object.entries(cases)) {
    it(sentence, () => {
      const errors = validateBySchema(
        { spec, metadata: { name: 'b' } },
        schemaOf([rule]),
        previous === undefined ? {} : { previous: { spec: previous, metadata: { name: 'a' } } },
      )
      const lines = errors.map((error) => invalidObject({ group: '', kind: 'X', name: 'x' }, [error]).message)
      expect(lines.map((line) => line.replace(/^.*?is invalid: /, ''))).toEqual(then)
    })
  }

  it('a rule on the items of a keyed list sees the past of the same item', () => {
    const schema: Schema = {
      type: 'object',
      properties: {
        items: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            properties: { name: { type: 'string' }, size: { type: 'integer' } },
            'x-kubernetes-validations': [{ rule: 'self.size >= oldSelf.size', message: 'never shrinks' }],
          },
        },
      },
    }
    const previous = {
      items: [
        { name: 'a', size: 5 },
        { name: 'b', size: 5 },
      ],
    }
    const next = {
      items: [
        { name: 'b', size: 6 },
        { name: 'a', size: 4 },
        { name: 'new', size: 1 },
      ],
    }
    expect(validateBySchema(next, schema, { previous })).toEqual([
      { kind: 'Invalid', field: 'items[1]', detail: 'never shrinks' },
    ])
  })

  const unusable: Record<string, { rule: string; problem: string }> = {
    'a rule that cannot be parsed': { rule: 'self.min >', problem: 'compilation failed: Unexpected token: EOF' },
    'a rule that reads a field the schema does not have': {
      rule: 'self.minimum > 1',
      problem: "compilation failed: undefined field 'minimum'",
    },
    'a rule that uses a variable nobody declared': {
      rule: 'that.min > 1',
      problem: 'compilation failed: Unknown variable: that',
    },
    'a list of texts and numbers': {
      rule: 'self.name in ["a", 1]',
      problem: "compilation failed: expected type 'string' but found 'int'",
    },
    'a list of fields of other types': {
      rule: '[self.min, self.name].size() == 2',
      problem: "compilation failed: expected type 'int' but found 'string'",
    },
    'a map with values of two types': {
      rule: '{"a": 1, "b": true}["a"] == 1',
      problem: "compilation failed: expected type 'int' but found 'bool'",
    },
    'a list that says of one item that it may be anything': {
      rule: '[dyn(self.min), self.name].size() == 2',
      problem: "compilation failed: expected type 'dyn' but found 'string'",
    },
    'a mixture inside a loop': {
      rule: 'self.tags.all(tag, tag in ["a", 2.5])',
      problem: "compilation failed: expected type 'string' but found 'double'",
    },
    'a rule that is not a truth': { rule: 'self.min + 1', problem: 'cel expression must evaluate to a bool' },
  }
  for (const [sentence, { rule, problem }] of Object.entries(unusable)) {
    it(`${sentence} is found out when it is written, not when it is used`, () => {
      const spec: Schema = { type: 'object', properties, 'x-kubernetes-validations': [{ rule }] }
      expect(compiledRulesOf(spec, false).map((compiled) => compiled.problem)).toEqual([problem])
    })
  }

  const mixtures = [
    'self.name in [dyn("a"), dyn(1)]',
    '[self.min, self.max].size() == 2',
    '[[], [1]].size() == 2',
    '[{}, {"a": 1}].size() == 2',
    '"%s is %d".format([self.name, self.min]) != ""',
    'self.tags.all(tag, tag in [self.name, "a"])',
  ]
  for (const rule of mixtures) {
    it(`a list of one type, or of what is formatted, is taken: ${rule}`, () => {
      const spec: Schema = { type: 'object', properties, 'x-kubernetes-validations': [{ rule }] }
      expect(compiledRulesOf(spec, false).map((compiled) => compiled.problem)).toEqual([undefined])
    })
  }
})
