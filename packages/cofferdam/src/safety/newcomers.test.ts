import { describe, expect, it } from 'vitest'
import { osdPresence } from './freshness.ts'
import { Newcomers, unheardNewcomers } from './newcomers.ts'
import { buildSafetyIndex } from './safety-index.ts'
import { buildSlackHypergraph } from './slack-hypergraph.ts'
import { exampleMap } from './testing/example-map.ts'

const back = { id: 0, upFrom: 9, downAt: 7 }
const short = { pg: '1.0', acting: [2, 4], state: 'active+undersized+degraded' }

it('an OSD that CRUSH has and the OSD map has not did not just come back: verdicts about its host stay as they are', () => {
  const map = exampleMap({ osds: [back], pgs: [{ ...short, reported: 8 }] })
  const newcomers = new Newcomers(map, osdPresence(map.osds))
  expect([0, 1, 99].map((osd) => newcomers.mayMatter(osd))).toEqual([true, false, false])
})

it('a verdict about a host whose OSD has just come back is made again when an OSD elsewhere goes: a yes from before would stop the copy that comes', () => {
  const map = exampleMap({ osds: [back], pgs: [{ pg: '1.0', acting: [2, 4, 5], reported: 8 }] })
  const before = buildSafetyIndex(map)
  const after = before.withOsd({ id: 4, isUp: false })
  const ofHostA = (index: typeof before) => index.domainVerdicts('host')[0]?.verdict
  expect(ofHostA(before)).toEqual({ may: 'yes' })
  expect(ofHostA(before.withOsd({ id: 4, isUp: false }))).toEqual(ofHostA(after))
  expect(ofHostA(after)?.may).toBe('unknown')
})

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

  const short2 = { pg: '1.1', acting: [3, 5], state: 'active+undersized+degraded' }
  const awaited: Readonly<Record<string, readonly [Parameters<typeof exampleMap>[0], string | undefined]>> = {
    'waits for the one that reported the longest ago, whichever comes first': [
      {
        osds: [back],
        pgs: [
          { ...short, reported: 8 },
          { ...short2, reported: 5 },
        ],
      },
      '1.1',
    ],
    'waits for the one that reported the longest ago, also where that comes first': [
      {
        osds: [back],
        pgs: [
          { ...short2, reported: 5 },
          { ...short, reported: 8 },
        ],
      },
      '1.1',
    ],
    'waits for the first by name of those that reported in one epoch': [
      {
        osds: [back],
        pgs: [
          { ...short2, reported: 6 },
          { ...short, reported: 6 },
        ],
      },
      '1.0',
    ],
    'waits for none that has all its copies, however long ago it reported': [
      {
        osds: [back],
        pgs: [
          { pg: '1.2', acting: [1, 2, 4], reported: 2 },
          { ...short, reported: 9 },
        ],
      },
      undefined,
    ],
    'waits for one whose pool is not known: nobody can say that it has all its copies': [
      { osds: [back], pgs: [{ pg: '9.0', acting: [1, 2, 4], reported: 8 }] },
      '9.0',
    ],
    'waits for none once it is down again: it can not be stopped': [
      { osds: [{ ...back, isUp: false, downAt: 10 }], pgs: [{ ...short, reported: 8 }] },
      undefined,
    ],
    'waits for none where it came up before every report': [
      {
        osds: [{ ...back, upFrom: 4 }],
        pgs: [
          { ...short, reported: 8 },
          { ...short2, reported: 4 },
        ],
      },
      undefined,
    ],
  }
  it.each(Object.entries(awaited))('%s', (_, [given, pg]) => {
    const found = unheardNewcomers(exampleMap(given), [0]).map(({ why }) => why.split(' ')[2])
    expect(found).toEqual(pg === undefined ? [] : [pg])
  })

  it('does not go with its failure domain either: a placement group that was out of reach until it came back would be so again', () => {
    const alone = { pg: '1.0', acting: [2], state: 'undersized+degraded+peered', reported: 8 }
    const map = exampleMap({ osds: [back, { id: 4, isUp: false, downAt: 6 }], pgs: [alone] })
    const why = 'placement group 1.0 is short of copies and has not reported since osd.0 came up'
    const index = buildSafetyIndex(map)
    expect([
      index.mayStop([0]),
      index.domainVerdicts('host').find(({ domain }) => domain === 'host-a')?.verdict,
      buildSlackHypergraph({ map, targets: [0, 1] }).blocked,
    ]).toEqual([{ may: 'unknown', why }, { may: 'unknown', why }, [{ osd: 0, why }]])
  })

  it('is awaited too when another OSD, had it stopped, would leave that placement group short', () => {
    const map = exampleMap({ osds: [back], pgs: [{ pg: '1.0', acting: [1, 2, 4], reported: 8 }] })
    const index = buildSafetyIndex(map)
    index.domainVerdicts('host')
    const verdictOf = (one: typeof index) =>
      one.domainVerdicts('host').find(({ domain }) => domain === 'host-a')?.verdict
    expect([index.mayStop([0]).may, index.withOsd({ id: 4, isUp: false }).mayStop([0]).may]).toEqual(['yes', 'unknown'])
    expect(verdictOf(index.withOsd({ id: 4, isUp: false }))?.may).not.toBe('yes')
  })
})
