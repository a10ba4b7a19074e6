import { describe, expect, it } from 'vitest'
import { isSameAffinity, joinAffinities, joinAffinitiesLikeRook, type NodeAffinity } from './node-affinity.ts'

const exists = (key: string) => ({ key, operator: 'Exists' as const })
const required = (
  ...nodeSelectorTerms: NonNullable<NodeAffinity['requiredDuringSchedulingIgnoredDuringExecution']>['nodeSelectorTerms']
): NodeAffinity => ({
  requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
})
const preferring = (key: string): NodeAffinity => ({
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: { matchExpressions: [exists(key)] } }],
})
const byName = { matchFields: [{ key: 'metadata.name', operator: 'In' as const, values: ['node-a'] }] }
const byLabel = { matchExpressions: [exists('disk')] }

describe('node affinities that hold together', () => {
  it('keep what is said of labels and what is said of names: without one the OSD could start where its disk is not', () => {
    expect(joinAffinities([required(byName), required(byLabel)])).toEqual(required({ ...byLabel, ...byName }))
    expect(joinAffinities([required(byLabel), required(byName)])).toEqual(required({ ...byLabel, ...byName }))
  })

  it('keep all that is preferred', () => {
    const joined = joinAffinities([preferring('ssd'), required(byLabel), preferring('near')])
    expect(joined?.preferredDuringSchedulingIgnoredDuringExecution).toHaveLength(2)
  })

  it('in the way of Rook keep the other terms of the second alone', () => {
    const other = { matchExpressions: [exists('other')] }
    expect(joinAffinitiesLikeRook([required(byName, other), required(byLabel, other)])).toEqual(
      required({ ...byLabel, ...byName }, other),
    )
  })
})

it.each([
  [
    'the order of requirements means nothing',
    required({ matchExpressions: [exists('a'), exists('b')] }),
    required({ matchExpressions: [exists('b'), exists('a')] }),
    true,
  ],
  ['another preference is another affinity', preferring('a'), preferring('b'), false],
  ['none and an empty one are the same', undefined, {}, true],
  ['a name instead of a label is another', required(byName), required(byLabel), false],
])('an OSD is not restarted for nothing, and not left where it should not be: %s', (_, one, other, isSame) => {
  expect(isSameAffinity(one, other)).toBe(isSame)
})
