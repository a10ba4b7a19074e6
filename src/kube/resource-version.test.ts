import { describe, expect, it } from 'vitest'
import { compareResourceVersions } from './resource-version.ts'

const stories: Record<string, { left: string; right: string; then: 'older' | 'same' | 'newer' | 'unknown' }> = {
  'a smaller number is older': { left: '9', right: '10', then: 'older' },
  'a larger number is newer': { left: '10', right: '9', then: 'newer' },
  'the same is the same, even where it is no number': { left: 'abc', right: 'abc', then: 'same' },
  'numbers beyond what a double holds keep their order': {
    left: '9007199254740993',
    right: '9007199254740992',
    then: 'newer',
  },
  'zero stands for any version, so it has no place in the order': { left: '0', right: '1', then: 'unknown' },
  'an empty version has no place in the order': { left: '', right: '1', then: 'unknown' },
  'leading zeros are no version of Kubernetes': { left: '007', right: '8', then: 'unknown' },
  'other schemes cannot be compared': { left: '1-a', right: '2-a', then: 'unknown' },
}

describe('resource versions', () => {
  for (const [story, { left, right, then }] of Object.entries(stories)) {
    it(story, () => {
      const order = compareResourceVersions(left, right)
      expect(order === undefined ? 'unknown' : order < 0 ? 'older' : order > 0 ? 'newer' : 'same').toBe(then)
    })
  }
})
