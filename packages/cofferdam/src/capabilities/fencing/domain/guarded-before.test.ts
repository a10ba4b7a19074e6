import { describe, expect, it } from 'vitest'
import { isGuardedBefore } from './guarded-before.ts'

describe('a cluster whose machines a budget of ours guards', () => {
  const object = (uid: string | undefined, annotations?: Record<string, string>) => ({
    apiVersion: 'v1',
    kind: 'Any',
    metadata: { name: 'x', ...(uid !== undefined && { uid }), ...(annotations && { annotations }) },
  })
  const budgetFor = (uid: string) => object('b', { 'cofferdam.io/cephcluster-uid': uid })

  it('is known by its UID, so that an operator that was not told of it does not free them', () => {
    expect(isGuardedBefore(object('u1'), [object('b'), budgetFor('u0'), budgetFor('u1')])).toBe(true)
  })

  it('is not one of the same name, nor one without a UID', () => {
    expect(isGuardedBefore(object('u2'), [budgetFor('u1')])).toBe(false)
    expect(isGuardedBefore(object(undefined), [object('b')])).toBe(false)
  })
})
