import { describe, expect, it } from 'vitest'
import { Neighbours } from './neighbours.ts'

describe('the neighbour of an object', () => {
  it('is one of its ReplicaSet, though a pod of another was read last', () => {
    const neighbours = new Neighbours<string>()
    neighbours.note('shop/web-6c9f-x7k2p', 'new')
    neighbours.note('shop/web-5b8d-q2m4z', 'old')
    expect(neighbours.of('shop/web-6c9f-zz8cd')).toBe('new')
  })

  it('is what was read last where no name begins alike, as at the head of a list', () => {
    const neighbours = new Neighbours<string>()
    expect(neighbours.of('shop/web-6c9f-x7k2p')).toBeUndefined()
    neighbours.note('shop/web-6c9f-x7k2p', 'web')
    expect([neighbours.of('bank/db-0'), neighbours.of('node')]).toEqual(['web', 'web'])
  })

  it('is not kept when many others were read since: a cluster of a thousand rollouts would be in memory twice', () => {
    const neighbours = new Neighbours<string>()
    neighbours.note('shop/web-0', 'web')
    for (let at = 0; at < 32; at += 1) neighbours.note(`shop/app-${at}-0`, `app ${at}`)
    expect(neighbours.of('shop/web-1')).toBe('app 31')
    expect(neighbours.of('shop/app-0-1')).toBe('app 0')
  })
})
