import { readSample } from '@cofferdam/product/ceph/testing/read-sample.ts'
import { describe, expect, it } from 'vitest'
import type { SeenGroup } from '../ceph-state.ts'
import { buildCrushTree } from '../crush-tree.ts'
import type { PlacementGroup } from '../placement-group.ts'
import { okToStop } from './ok-to-stop.ts'

interface SamplePg {
  readonly pgid: string
  readonly state: string
  readonly up: number[]
  readonly acting: number[]
}

/** The tree that the samples were taken from: three racks with two hosts each, two OSDs on a host. */
const tree = buildCrushTree(
  {
    type: 'root',
    name: 'default',
    children: [0, 1, 2].map((rack) => ({
      type: 'rack',
      name: `rack${rack}`,
      children: [0, 1].map((host) => ({
        type: 'host',
        name: `r${rack}h${host}`,
        osds: [0, 1].map((disk) => ({ id: 4 * rack + 2 * host + disk })),
      })),
    })),
  },
  [],
)

/** What the mgr held when the sample was taken. Without recovery all acting members are complete. */
function seenIn(sample: string): SeenGroup[] {
  const { pg_stats } = readSample(sample) as { pg_stats: SamplePg[] }
  return pg_stats
    .map(({ pgid, state, up, acting }) => {
      const [pool = '', number = ''] = pgid.split('.')
      const group = { id: pgid, number: Number.parseInt(number, 16), pool: { id: Number(pool), minSize: 2 } }
      const complete = state.includes('degraded') ? acting.map(String) : []
      const report = { state, up, acting, complete } as unknown as SeenGroup['report']
      return { group: group as unknown as PlacementGroup, report, state }
    })
    .sort((a, b) => a.group.pool.id - b.group.pool.id || a.group.number - b.group.number)
}

interface Case {
  readonly pgs: string
  readonly osds: readonly number[]
  readonly max?: number
  readonly down?: readonly number[]
  readonly isTentacle?: boolean
  readonly answer: string
  readonly code: number
}

const healthy = 'healthy-pg-dump-pgs_brief'
const oneDown = 'osd0-down-pg-dump-pgs_brief'
const tentacle = 'tentacle-healthy-pg-dump-pgs_brief'

describe('ok-to-stop answers as the real mgr did, from the same placement groups', () => {
  const cases: Record<string, Case> = {
    'one OSD may go': { pgs: healthy, osds: [0], answer: 'ok-to-stop-single-ok', code: 0 },
    'with a limit of four the set grows by its host and no further': {
      pgs: healthy,
      osds: [0],
      max: 4,
      answer: 'ok-to-stop-max4-ok',
      code: 0,
    },
    'two hosts may not': { pgs: healthy, osds: [0, 1, 2], answer: 'ok-to-stop-3-notok', code: 16 },
    'an OSD that does not exist harms nothing': {
      pgs: healthy,
      osds: [99],
      answer: 'ok-to-stop-nonexistent',
      code: 0,
    },
    'beside a down OSD its neighbour on the same host may go': {
      pgs: oneDown,
      down: [0],
      osds: [1],
      answer: 'osd0-down-ok-to-stop-1',
      code: 0,
    },
    'and nothing is added to it': {
      pgs: oneDown,
      down: [0],
      osds: [1],
      max: 6,
      answer: 'osd0-down-ok-to-stop-1-max6',
      code: 0,
    },
    'beside a down OSD one of another host may not': {
      pgs: oneDown,
      down: [0],
      osds: [2],
      answer: 'osd0-down-ok-to-stop-2',
      code: 16,
    },
    'the down OSD itself may': { pgs: oneDown, down: [0], osds: [0], answer: 'osd0-down-ok-to-stop-0', code: 0 },
    'reports from before the OSD went down still say yes': {
      pgs: healthy,
      down: [0],
      osds: [2],
      answer: 'stale-ok-to-stop-2',
      code: 0,
    },
    'beside a down host nine groups stand in the way': {
      pgs: 'host-r0h0-down-pg-dump-pgs_brief',
      down: [0, 1],
      osds: [4],
      answer: 'host-r0h0-down-ok-to-stop-4',
      code: 16,
    },
    '20.2.4 overlooks groups whose last member stays': {
      pgs: tentacle,
      osds: [5, 6],
      isTentacle: true,
      answer: 'tentacle-ok-to-stop-5-6-FALSE-OK',
      code: 0,
    },
    '20.2.4 grows too far for the same reason': {
      pgs: tentacle,
      osds: [4],
      max: 20,
      isTentacle: true,
      answer: 'tentacle-ok-to-stop-4-max20-FALSE-OK',
      code: 0,
    },
    '20.2.4 refuses where the last member goes': {
      pgs: tentacle,
      osds: [0, 2],
      isTentacle: true,
      answer: 'tentacle-ok-to-stop-0-2-notok',
      code: 16,
    },
  }

  it.each(Object.entries(cases))(
    '%s',
    (_, { pgs, osds, max = osds.length, down = [], isTentacle = false, ...real }) => {
      const answer = okToStop({
        seen: seenIn(pgs),
        tree,
        isUp: (osd) => !down.includes(osd),
        mood: { lie: undefined, isTentacle },
        osds,
        max,
      })
      expect(answer.body).toEqual(readSample(real.answer))
      expect(answer.code).toBe(real.code)
    },
  )
})
