import { describe, expect, it } from 'vitest'
import { compareResourceVersions } from './resource-version.ts'

const scenarios: Record<string, { left: string; right: string; gives: 'older' | 'same' | 'newer' | 'unknown' }> = {
  'a smaller number is older': { left: '9', right: '10', gives: 'older' },
  'a larger number is newer': { left: '10', right: '9', gives: 'newer' },
  'the same is the same, even where it is no number': { left: 'abc', right: 'abc', gives: 'same' },
  'numbers beyond what a double holds keep their order': {
    left: '9007199254740993',
    right: '9007199254740992',
    gives: 'newer',
  },
  'zero stands for any version, so it has no place in the order': { left: '0', right: '1', gives: 'unknown' },
  'an empty version has no place in the order': { left: '', right: '1', gives: 'unknown' },
  'leading zeros are no version of Kubernetes': { left: '007', right: '8', gives: 'unknown' },
  'other schemes cannot be compared': { left: '1-a', right: '2-a', gives: 'unknown' },
}

describe('resource versions', () => {
  for (const [scenario, { left, right, gives }] of Object.entries(scenarios)) {
    it(scenario, () => {
      const order = compareResourceVersions(left, right)
      expect(order === undefined ? 'unknown' : order < 0 ? 'older' : order > 0 ? 'newer' : 'same').toBe(gives)
    })
  }
})
