import { describe, expect, it } from 'vitest'
import { buildSlackHypergraph, type SlackHypergraph } from './slack-hypergraph.ts'
import { partOfHypergraph } from './slack-hypergraph-part.ts'
import { type ExampleMap, exampleMap } from './testing/example-map.ts'

const targets = [0, 1, 2, 3, 4, 5]
const whole = { pg: '1.1b', acting: [0, 2, 4] }

function edgesOf({ osds, edgeStarts, edgeMembers, slack }: SlackHypergraph) {
  return [...slack].map((atMost, edge) => ({
    osds: [...edgeMembers.subarray(edgeStarts[edge], edgeStarts[edge + 1])].map((unit) => osds[unit]),
    atMost,
  }))
}

function build(given: ExampleMap, more: Partial<Parameters<typeof buildSlackHypergraph>[0]> = {}): SlackHypergraph {
  return buildSlackHypergraph({ map: exampleMap(given), targets, ...more })
}

describe('what may stop together', () => {
  it('is limited by every placement group to the copies that it can spare', () => {
    expect(edgesOf(build({ pgs: [whole] }))).toEqual([{ osds: [0, 2, 4], atMost: 1 }])
  })

  it('is limited by the set that serves and by the one that a backfill may put in its place', () => {
    const moving = { ...whole, up: [0, 3, 5], state: 'active+remapped+backfilling' }
    expect(edgesOf(build({ pgs: [moving] }))).toEqual([
      { osds: [0, 2, 4], atMost: 1 },
      { osds: [0, 3, 5], atMost: 1 },
    ])
  })

  it('is not limited where fewer are asked about than can be spared', () => {
    expect(edgesOf(build({ pgs: [whole] }, { targets: [0, 1] }))).toEqual([])
  })

  it('has an OSD that is down without limits, for whatever it had is lost already', () => {
    const down = [{ id: 0, isUp: false }]
    const graph = build({ osds: down, pools: [{ id: 1, minSize: 1 }], pgs: [{ ...whole }] })
    expect([[...graph.isDown], edgesOf(graph)]).toEqual([[1, 0, 0, 0, 0, 0], [{ osds: [2, 4], atMost: 1 }]])
  })

  it('is the same for a part of the OSDs, but for what cannot be broken there', () => {
    const graph = build({ pgs: [whole, { pg: '1.1c', acting: [1, 3, 5] }] })
    expect(edgesOf(partOfHypergraph(graph, [1, 2, 4]))).toEqual([{ osds: [2, 4], atMost: 1 }])
  })

  it('with sites leaves a copy on each of them', () => {
    const stretched = {
      hosts: { a: [0, 1, 6], b: [2, 3] },
      pools: [{ id: 1, size: 4, minSize: 2 }],
      pgs: [{ pg: '1.0', acting: [0, 1, 2, 3] }],
    }
    const sites = [{ poolIds: [1], type: 'host' }]
    expect(edgesOf(build(stretched, { targets: [0, 1, 2, 3], sites }))).toEqual([
      { osds: [0, 1, 2, 3], atMost: 2 },
      { osds: [0, 1], atMost: 1 },
      { osds: [2, 3], atMost: 1 },
    ])
  })
})

describe('what must not stop even alone', () => {
  const cases: Readonly<Record<string, readonly [ExampleMap, readonly number[], string]>> = {
    'is every member of a placement group without a copy to spare': [
      { pgs: [{ pg: '1.1b', acting: [0, 2], state: 'active+undersized+degraded' }] },
      [0, 2],
      'placement group 1.1b of pool rbd has 2 whole copies up and must keep 2',
    ],
    'is told with the first placement group by name and how many more there are': [
      {
        pgs: [
          { pg: '1.1b', acting: [0, 2], state: 'active+undersized+degraded' },
          { pg: '1.a', acting: [0, 2], state: 'active+undersized+degraded' },
        ],
      },
      [0, 2],
      'placement group 1.a of pool rbd has 2 whole copies up and must keep 2 (and 1 more like it)',
    ],
    'is every member of one that may lack objects': [
      { pgs: [{ ...whole, state: 'active+recovering+degraded' }] },
      [0, 2, 4],
      'a copy of placement group 1.1b of pool rbd may lack objects',
    ],
    'is every member, present and coming, of one that is not active': [
      { pgs: [{ ...whole, up: [0, 2, 5], state: 'peering' }] },
      [0, 2, 4, 5],
      'placement group 1.1b of pool rbd is not active and must not lose more',
    ],
    'is every member of one that has not told of the last change': [
      { pgs: [{ ...whole, reported: 4 }], osds: [{ id: 2, upFrom: 5 }] },
      [0, 2, 4],
      'placement group 1.1b of pool rbd has not reported since one of its OSDs went down or came up',
    ],
    'is every member of one whose pool is not known': [
      { pgs: [{ pg: '7.0', acting: [0, 2, 4] }] },
      [0, 2, 4],
      'how many copies placement group 7.0 of pool number 7 must keep is not known',
    ],
    'is everything while a placement group has never been reported': [
      { pgs: [whole, { pg: '1.1c', acting: [], state: 'unknown' }] },
      targets,
      'placement group 1.1c of pool rbd has not been reported by any OSD yet, so its OSDs are not known',
    ],
    'is everything while the map is older than a report': [
      { pgs: [{ ...whole, reported: 11 }] },
      targets,
      'the OSD map of epoch 10 is older than a report from epoch 11',
    ],
  }
  it.each(Object.entries(cases))('%s', (_, [given, osds, why]) => {
    expect(build(given).blocked).toEqual(osds.map((osd) => ({ osd, why })))
  })

  it('is an OSD that there is not', () => {
    expect(build({ pgs: [whole] }, { targets: [0, 41] }).blocked).toEqual([
      { osd: 41, why: 'the OSD map has no osd.41' },
    ])
  })

  it('is the last copy of a site', () => {
    const sites = [{ poolIds: [1], type: 'host' }]
    expect(build({ pgs: [whole] }, { targets: [0], sites }).blocked).toEqual([
      { osd: 0, why: 'placement group 1.1b of pool rbd has its last copy of a site there' },
    ])
  })
})
