import { expect, it } from 'vitest'
import { closestName } from './closest-name.ts'

const known = ['name', 'nodes', 'zones', 'maxUnavailable', 'minAvailable']

const cases: Record<string, { given: string; then: string | undefined }> = {
  'a letter too few': { given: 'zone', then: 'zones' },
  'two letters swapped': { given: 'ndoes', then: 'nodes' },
  'other capitals': { given: 'maxunavailable', then: 'maxUnavailable' },
  'a long name may be wrong in several letters': { given: 'minAvaliabel', then: 'minAvailable' },
  'a short name is not taken for another short one': { given: 'xyz', then: undefined },
  'the nearest wins over an earlier one': { given: 'nam', then: 'name' },
}
it.each(Object.entries(cases))('%s', (_name, { given, then }) => {
  expect(closestName(given, known)).toBe(then)
})
