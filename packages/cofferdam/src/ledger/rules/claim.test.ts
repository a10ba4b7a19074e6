import { describe, expect, it } from 'vitest'
import { type Claim, conflictsWith, isLimit, isSameClaim, limitKey, onePerKey } from './claim.ts'
import { budgetKey, budgetOf, nodeKey } from './keys.ts'

const claim = (key: string, scope = '', uid = 'u'): Claim => ({ key, uid, scope })

describe('claims of one request', () => {
  it('that name a key twice are one', () => {
    expect(onePerKey([claim('storage/r/c', 'zone-a'), claim('node/a'), claim('storage/r/c', 'zone-a')])).toEqual([
      claim('storage/r/c', 'zone-a'),
      claim('node/a'),
    ])
  })

  it('that name a key in two scopes share it with no other request', () => {
    expect(onePerKey([claim('storage/r/c', 'zone-a'), claim('storage/r/c', 'zone-b')])).toEqual([claim('storage/r/c')])
  })

  it('that are all different stay as they are, down to the list', () => {
    const claims = [claim('node/a'), claim('node/b')]
    expect(onePerKey(claims)).toBe(claims)
  })

  it('are the same only with key, object and scope: a budget that was created again is another one', () => {
    const one = claim('pdb/shop/web', 'x', 'u1')
    expect(
      [one, { ...one, key: 'pdb/shop/db' }, { ...one, uid: 'u2' }, { ...one, scope: 'y' }].map((other) =>
        isSameClaim(one, other),
      ),
    ).toEqual([true, false, false, false])
  })
})

describe('claims of two requests', () => {
  /** Few are compared one by one, many by key. */
  const alike = [2, 8, 9, 40].map((count) => {
    const more = Array.from({ length: count - 2 }, (_, at) => claim(`pdb/shop/p${at}`))
    return conflictsWith([claim('storage/r/c', 'zone-a'), claim(limitKey('workers')), ...more])
  })
  const cases: Readonly<Record<string, readonly [Claim, boolean]>> = {
    'conflict over a storage in another failure domain': [claim('storage/r/c', 'zone-b'), true],
    'conflict over all of a storage': [claim('storage/r/c'), true],
    'go together in the same failure domain': [claim('storage/r/c', 'zone-a'), false],
    'go together over different keys': [claim('storage/r/d', 'zone-b'), false],
    'go together over a limit, which is counted': [claim('limit/workers'), false],
  }
  it.each(Object.entries(cases))('%s, however many there are', (_, [wanted, conflicts]) => {
    expect(alike.map((isConflict) => isConflict(wanted))).toEqual([conflicts, conflicts, conflicts, conflicts])
  })

  it('over a budget among many are found by its key', () => {
    expect(alike.map((isConflict) => isConflict(claim('pdb/shop/p0')))).toEqual([false, true, true, true])
  })
})

describe('a key', () => {
  it('says what it is of, so that a node, a budget and a limit of one name are three', () => {
    const keys = [nodeKey('a'), budgetKey({ namespace: 'shop', name: 'a' }), limitKey('a')]
    expect(keys).toEqual(['node/a', 'pdb/shop/a', 'limit/a'])
    expect(keys.map(budgetOf)).toEqual([undefined, 'shop/a', undefined])
    expect(keys.map((key) => isLimit({ key }))).toEqual([false, false, true])
  })
})
