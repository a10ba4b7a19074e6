import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findJsonFault } from './json-fault.ts'

describe('the fault in a text that is not JSON', () => {
  const scenarios: Record<string, { given: string; then: object | undefined }> = {
    'nothing at all ends where a value should begin': {
      given: '',
      then: { line: 1, column: 1, found: 'the end of the body' },
    },
    'a missing value is found in its line and column': {
      given: '{\n  "a": 1,\n  "b": }\n',
      then: { line: 3, column: 8, found: '"}"' },
    },
    'a comma too many is found at what follows it': {
      given: '{"a":[1,]}',
      then: { line: 1, column: 9, found: '"]"' },
    },
    'a key without quotes is found at its first letter': { given: '{a:1}', then: { line: 1, column: 2, found: '"a"' } },
    'a body that was cut off ends at its end': {
      given: '{"a":{"b":1',
      then: { line: 1, column: 12, found: 'the end of the body' },
    },
    'something after the value is found': { given: '{} x', then: { line: 1, column: 4, found: '"x"' } },
    'what is JSON has no fault': { given: ' [1, -2.5e3, "\\u00e9", {"a": null, "b": {}}, []] ', then: undefined },
  }
  for (const [sentence, { given, then }] of Object.entries(scenarios)) {
    it(sentence, () => expect(findJsonFault(given)).toEqual(then))
  }

  it('there is one exactly when JSON.parse finds one', () => {
    const noise = fc.array(
      fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '\\', '1', '-', '.', 'e', 'true', 'nul', ' ', '\n', 'é'),
    )
    const damaged = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '}', '"', 'x'))
      .map(([text, at, put]) => text.slice(0, at % (text.length + 1)) + put + text.slice((at % (text.length + 1)) + 1))
    fc.assert(
      fc.property(
        fc.oneof(
          noise.map((parts) => parts.join('')),
          damaged,
          fc.json(),
        ),
        (text) => {
          let isJson = true
          try {
            JSON.parse(text)
          } catch {
            isJson = false
          }
          expect(findJsonFault(text) === undefined).toBe(isJson)
        },
      ),
    )
  })
})
