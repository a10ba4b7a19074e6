import { describe, expect, it } from 'vitest'
import { exampleMap } from '../safety/testing/example-map.ts'
import { unheardNewcomers } from './unheard-newcomers.ts'

const back = { id: 0, upFrom: 9, downAt: 7 }
const short = { pg: '1.0', acting: [2, 4], state: 'active+undersized+degraded' }

describe('an OSD that has just come back', () => {
  it('is not stopped again while a placement group that lacks a copy has yet to say whether it is there', () => {
    const map = exampleMap({ osds: [back], pgs: [{ ...short, reported: 8 }] })
    expect(unheardNewcomers(map, [0, 1])).toEqual([
      { osd: 0, why: 'placement group 1.0 is short of copies and has not reported since osd.0 came up' },
    ])
  })

  it('is judged like all others when every such placement group has reported since', () => {
    expect(unheardNewcomers(exampleMap({ osds: [back], pgs: [{ ...short, reported: 9 }] }), [0])).toEqual([])
  })

  it('is judged like all others when those that have not reported since have all their copies without it', () => {
    expect(
      unheardNewcomers(exampleMap({ osds: [back], pgs: [{ pg: '1.0', acting: [1, 2, 4], reported: 8 }] }), [0]),
    ).toEqual([])
  })
})
