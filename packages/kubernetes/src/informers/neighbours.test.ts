import { describe, expect, it } from 'vitest'
import { Neighbours } from './neighbours.ts'

describe('the neighbour of an object', () => {
  it('is one of its ReplicaSet, though a pod of another was read last', () => {
    const neighbours = new Neighbours<string>()
    neighbours.next('shop/web-6c9f-x7k2p', 'new')
    neighbours.next('shop/web-5b8d-q2m4z', 'old')
    expect(neighbours.next('shop/web-6c9f-zz8cd', 'newer')).toBe('new')
  })

  it('is what was read last where no name begins alike, as at the head of a list', () => {
    const neighbours = new Neighbours<string>()
    expect(neighbours.next('shop/web-6c9f-x7k2p', 'web')).toBeUndefined()
    expect(neighbours.next('bank/db-0', 'db')).toBe('web')
    expect(neighbours.next('node', 'node')).toBe('db')
  })

  it('is not kept when many others were read since: a cluster of a thousand rollouts would be in memory twice', () => {
    const neighbours = new Neighbours<string>()
    neighbours.next('shop/web-0', 'web')
    for (let at = 0; at < 32; at += 1) neighbours.next(`shop/app-${at}-0`, `app ${at}`)
    expect(neighbours.next('shop/app-0-1', 'app 0 again')).toBe('app 0')
    expect(neighbours.next('shop/web-1', 'web again')).toBe('app 0 again')
  })
})
