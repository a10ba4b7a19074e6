import { describe, expect, it } from 'vitest'
import { builtinSchema } from '../builtin/schemas.ts'
import { applyDefaults } from './defaults.ts'
import type { Schema } from './schema.ts'

const schema: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        replicas: { type: 'integer', default: 1 },
        note: { type: 'string', nullable: true },
        paused: { type: 'boolean', nullable: true, default: false },
        strategy: {
          type: 'object',
          default: {},
          properties: { type: { type: 'string', default: 'Rolling' }, window: { type: 'string' } },
        },
        ports: {
          type: 'array',
          items: { type: 'object', properties: { protocol: { type: 'string', default: 'TCP' } } },
        },
        limits: {
          type: 'object',
          additionalProperties: { type: 'object', properties: { hard: { type: 'integer', default: 9 } } },
        },
      },
    },
  },
}

const filled = { replicas: 1, paused: false, strategy: { type: 'Rolling' } }

const cases: Record<string, { given: object; then: object }> = {
  'absent fields get their defaults, and defaults inside defaults too': {
    given: { spec: {} },
    then: { spec: filled },
  },
  'an absent object without a default stays absent': { given: {}, then: {} },
  'what is given is not touched': {
    given: { spec: { replicas: 0, strategy: { type: 'Recreate' }, paused: true } },
    then: { spec: { replicas: 0, strategy: { type: 'Recreate' }, paused: true } },
  },
  'items of lists and values of maps are completed': {
    given: { spec: { ...filled, ports: [{}, { protocol: 'UDP' }], limits: { a: {}, b: { hard: 1 } } } },
    then: {
      spec: {
        ...filled,
        ports: [{ protocol: 'TCP' }, { protocol: 'UDP' }],
        limits: { a: { hard: 9 }, b: { hard: 1 } },
      },
    },
  },
  'null where null is no value is the same as absent: the default, or nothing': {
    given: { spec: { replicas: null, strategy: { window: null } } },
    then: { spec: { replicas: 1, strategy: { type: 'Rolling' }, paused: false } },
  },
  'null where null is a value stays, default or not': {
    given: { spec: { ...filled, note: null, paused: null } },
    then: { spec: { ...filled, note: null, paused: null } },
  },
  'a creation time of null, as old clients send it, goes': {
    given: { metadata: { name: 'x', creationTimestamp: null } },
    then: { metadata: { name: 'x' } },
  },
}

describe('applyDefaults', () => {
  for (const [sentence, { given, then }] of Object.entries(cases)) {
    it(sentence, () => {
      const completed = applyDefaults(given, schema)
      expect(completed).toEqual(then)
      expect(applyDefaults(completed, schema)).toBe(completed)
    })
  }

  it('an object that lacks nothing is returned as it is', () => {
    const whole = { spec: { ...filled, ports: [{ protocol: 'TCP' }] } }
    expect(applyDefaults(whole, schema)).toBe(whole)
  })

  it('subtrees shared with the stored object are not looked at again', () => {
    const spec = { replicas: 2 }
    expect(applyDefaults({ metadata: { name: 'b' }, spec }, schema, { metadata: { name: 'a' }, spec }).spec).toBe(spec)
  })

  it('a field named like something every object inherits gets its default too', () => {
    const us: Schema = { type: 'string', default: 'us' }
    const odd: Schema = { type: 'object', properties: { constructor: us } }
    expect(Object.entries(applyDefaults({}, odd))).toEqual([['constructor', 'us']])
  })

  it('a quantity written as a number is stored as text', () => {
    const pod = { spec: { containers: [{ name: 'a', resources: { requests: { cpu: 2, memory: '1Gi' } } }] } }
    expect(applyDefaults(pod, builtinSchema('v1', 'Pod') as Schema)).toEqual({
      spec: { containers: [{ name: 'a', resources: { requests: { cpu: '2', memory: '1Gi' } } }] },
    })
  })

  it('a quantity is stored in one spelling: who compares texts would take the same pod for a changed one', () => {
    const pod = (cpu: string, memory: string) => ({
      spec: { containers: [{ name: 'a', resources: { requests: { cpu, memory } } }] },
    })
    expect(applyDefaults(pod('0.5', '1024Mi'), builtinSchema('v1', 'Pod') as Schema)).toEqual(pod('500m', '1Gi'))
  })
})
