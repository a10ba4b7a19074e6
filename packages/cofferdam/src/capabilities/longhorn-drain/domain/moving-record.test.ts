import { describe, expect, it } from 'vitest'
import { buildMovingRecord, decideMovingRecords, type MovingChange, parseMovingRecord } from './moving-record.ts'
import { type Fixture, longhornFixture } from './testing/longhorn-fixture.ts'

const flagged = { isEvictionRequested: true }
const moving = { sinceMs: 5_000, bytes: 70 }

const scenarios: Readonly<Record<string, readonly [Fixture, readonly MovingChange[]]>> = {
  'begins with the first flag, with all that there is to move': [
    {
      nodes: { n1: {}, n2: {} },
      volumes: {
        v: { copies: { n1: flagged, n2: 'healthy' }, actualBytes: 100 },
        w: { copies: { n1: flagged }, actualBytes: 200, rebuiltShare: 0.5 },
      },
    },
    [{ node: 'n1', moving: { sinceMs: 0, bytes: 200 } }],
  ],
  'of several nodes are written in the order of their names, so that two operators write the same': [
    {
      nodes: { n3: {}, n1: {}, n2: {} },
      volumes: { v: { copies: { n1: flagged, n2: flagged, n3: flagged }, actualBytes: 100 } },
    },
    ['n1', 'n2', 'n3'].map((node) => ({ node, moving: { sinceMs: 0, bytes: 100 } })),
  ],
  'stays as it is while flags are up, whatever is left': [
    { nodes: { n1: { moving } }, volumes: { v: { copies: { n1: flagged }, actualBytes: 10 } } },
    [],
  ],
  'grows with flags that Longhorn raises after the first: explain counted the bytes of one replica for all of them': [
    {
      nodes: { n1: { moving } },
      volumes: { v: { copies: { n1: flagged }, actualBytes: 70 }, w: { copies: { n1: flagged }, actualBytes: 200 } },
    },
    [{ node: 'n1', moving: { sinceMs: 5_000, bytes: 270 } }],
  ],
  'of a volume in use that grows a little costs no write': [
    { nodes: { n1: { moving } }, volumes: { v: { copies: { n1: flagged }, actualBytes: 76 } } },
    [],
  ],
  'ends with the last flag': [
    { nodes: { n1: { moving }, n2: {} }, volumes: { v: { copies: { n1: 'healthy' } } } },
    [{ node: 'n1', moving: undefined }],
  ],
  'of volumes that never move counts nothing': [
    { nodes: { n1: {} }, volumes: { v: { copies: { n1: flagged }, isStrictLocal: true } } },
    [{ node: 'n1', moving: { sinceMs: 0, bytes: 0 } }],
  ],
}

describe('the record of a move', () => {
  it.each(Object.entries(scenarios))('%s', (_, [fixture, expected]) => {
    expect(decideMovingRecords(longhornFixture(fixture))).toEqual(expected)
  })

  it('is read as it was written', () => {
    expect(parseMovingRecord(buildMovingRecord(moving))).toEqual(moving)
  })
})
