import { describe, expect, it } from 'vitest'
import { exampleMap } from '../../../safety/testing/example-map.ts'
import { harmOfStops, harmText, leastHarm } from './stop-harm.ts'

const pgs = (count: number, pool = 1) =>
  Array.from({ length: count }, (_, at) => ({ pg: `${pool}.${at.toString(16)}`, acting: [0, 2] }))

describe('what an OSD takes away when it stops', () => {
  it('is nothing where every placement group keeps its floor, and the words say so', () => {
    const map = exampleMap({ pgs: [{ pg: '1.0', acting: [0, 2, 4] }] })
    const [harm] = harmOfStops(map, [0], 0)
    expect([harm?.belowFloor, harm && harmText(harm)]).toEqual([0, 'no placement group falls below its min_size'])
  })

  it('names a few placement groups and counts them all', () => {
    const [harm] = harmOfStops(exampleMap({ pgs: pgs(7) }), [0], 0)
    expect(harm && harmText(harm)).toBe(
      '7 placement groups are below min_size while it restarts: 1.0 of pool rbd keeps 1 of 2 copies, 1.1 of pool rbd keeps 1 of 2 copies, 1.2 of pool rbd keeps 1 of 2 copies, 1.3 of pool rbd keeps 1 of 2 copies, 1.4 of pool rbd keeps 1 of 2 copies, and 2 more',
    )
  })

  it('counts a placement group of a pool that is not known as lost: nobody knows how many copies it must keep', () => {
    const harms = harmOfStops(exampleMap({ pgs: [...pgs(1, 9), { pg: '9.1', acting: [0, 1, 2, 3, 4, 5] }] }), [0, 4], 0)
    expect(harms.map(({ osd, belowFloor, pgs: [first] }) => [osd, belowFloor, first?.pool])).toEqual([
      [0, 2, 'number 9'],
      [4, 1, 'number 9'],
    ])
    expect(leastHarm(harms)?.osd).toBe(4)
  })
})
