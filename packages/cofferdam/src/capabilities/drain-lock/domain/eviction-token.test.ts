import { describe, expect, it } from 'vitest'
import { buildEvictionToken, parseEvictionToken } from './eviction-token.ts'

describe('the token of an eviction', () => {
  it('is read as it was written', () => {
    const token = { requestId: 'request-1', epoch: 7 }
    expect([parseEvictionToken(buildEvictionToken(token)), parseEvictionToken(undefined)]).toEqual([token, undefined])
  })

  it.each(['', 'x', 'null', '[]', '{}', '{"requestId":1,"epoch":1}', '{"requestId":"a","epoch":"1"}'])(
    'that says %j is that of nobody, and in force nowhere',
    (text) => {
      expect(parseEvictionToken(text)).toEqual({ requestId: '', epoch: 0 })
    },
  )
})
