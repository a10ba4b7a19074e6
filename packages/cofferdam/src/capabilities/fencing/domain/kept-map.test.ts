import { describe, expect, it } from 'vitest'
import { KeptMap } from './kept-map.ts'

describe('a map that is kept from pass to pass', () => {
  interface Item {
    readonly key: string | undefined
    readonly value: number
  }

  it('has the later of two with one key, also after the earlier one changed: the wrong Machine would be hooked', () => {
    const [first, second] = [
      { key: 'a', value: 1 },
      { key: 'a', value: 2 },
    ] as const
    const map = new KeptMap<Item>(({ key }) => key)
    expect(map.of([first, second]).get('a')).toBe(second)
    expect(map.of([{ key: 'a', value: 3 }, second]).get('a')).toBe(second)
    expect(map.of([first, { key: 'a', value: 4 }]).get('a')?.value).toBe(4)
  })

  it('forgets what has lost its key', () => {
    const map = new KeptMap<Item>(({ key }) => key)
    map.of([{ key: 'a', value: 1 }])
    expect([...map.of([{ key: undefined, value: 1 }])]).toEqual([])
  })
})
