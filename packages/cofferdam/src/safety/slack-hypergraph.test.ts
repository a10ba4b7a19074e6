import { describe, expect, it } from 'vitest'
import { noOsd } from './ceph-map.ts'
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

describe('the limits as numbers', () => {
  const moves = 'active+remapped+backfilling'
  const siteRule = [{ poolIds: [1], type: 'host' }]
  const edgesByOsd = ({ osds, unitStarts, unitEdges }: SlackHypergraph) =>
    Object.fromEntries(
      [...osds].map((osd, unit) => [osd, [...unitEdges.subarray(unitStarts[unit], unitStarts[unit + 1])]]),
    )

  it('are found from each OSD too, or a search would try sets that break one of them', () => {
    const graph = build({
      pgs: [
        whole,
        { pg: '1.1c', acting: [0, 3, 5] },
        { pg: '1.1d', acting: [4, 0, 3] },
        { pg: '1.1e', acting: [1, 3, 5] },
      ],
    })
    expect(edgesByOsd(graph)).toEqual({ 0: [0, 1, 2], 1: [3], 2: [0], 3: [1, 2, 3], 4: [0, 2], 5: [1, 3] })
    expect([graph.edgeStarts, graph.edgeMembers.length, graph.unitStarts.length]).toEqual([
      Int32Array.of(0, 3, 6, 9, 12),
      12,
      7,
    ])
  })

  it('are the same for a part, by the numbers of the part', () => {
    const graph = build({ pgs: [whole, { pg: '1.1c', acting: [0, 3, 5] }] })
    const part = partOfHypergraph(graph, [0, 3, 4])
    expect([edgesOf(part), edgesByOsd(part), part.edgeStarts]).toEqual([
      [
        { osds: [0, 4], atMost: 1 },
        { osds: [0, 3], atMost: 1 },
      ],
      { 0: [0, 1], 3: [1], 4: [0] },
      Int32Array.of(0, 2, 4),
    ])
  })

  it('have the OSDs in order and once, however they were asked for, and without those that are blocked', () => {
    const graph = build(
      { pgs: [{ pg: '1.0', acting: [0, 2], state: 'active+undersized+degraded' }] },
      { targets: [5, 0, 3, 5, 1] },
    )
    expect([[...graph.osds], graph.blocked.map(({ osd }) => osd)]).toEqual([[1, 3, 5], [0]])
  })

  it('keep the reserve back as well', () => {
    const four = { pools: [{ id: 1, size: 4 }], pgs: [{ pg: '1.0', acting: [0, 2, 4, 5] }] }
    expect([0, 1].map((reserve) => edgesOf(build(four, { reserve })))).toEqual([
      [{ osds: [0, 2, 4, 5], atMost: 2 }],
      [{ osds: [0, 2, 4, 5], atMost: 1 }],
    ])
  })

  it('count an OSD that stands in a row twice as one copy', () => {
    const twice = { pools: [{ id: 1, size: 4 }], pgs: [{ pg: '1.0', acting: [0, 2, 2, 4] }] }
    expect(edgesOf(build(twice))).toEqual([{ osds: [0, 2, 4], atMost: 1 }])
  })

  const unfilled: Readonly<Record<string, readonly number[]>> = {
    'with an empty place': [0, 3, noOsd],
    'with a number below zero': [0, 3, -1],
    'that names one OSD twice': [0, 3, 3],
    'that is short': [0, 3],
  }
  it.each(Object.entries(unfilled))('are not set by a set to come %s: it replaces nothing', (_, coming) => {
    expect(edgesOf(build({ pgs: [{ ...whole, up: coming, state: moves }] }))).toEqual([{ osds: [0, 2, 4], atMost: 1 }])
  })

  it('are not set by where a placement group is meant to be while nothing moves', () => {
    expect(edgesOf(build({ pgs: [{ ...whole, up: [0, 3, 5] }] }))).toEqual([{ osds: [0, 2, 4], atMost: 1 }])
  })

  it('hold each member of a set to come that has no copy too many, for the move may end at any time', () => {
    const graph = build({ osds: [{ id: 3, isUp: false }], pgs: [{ ...whole, up: [0, 3, 5], state: moves }] })
    const why = 'placement group 1.1b of pool rbd has 2 whole copies up and must keep 2'
    expect([graph.blocked, edgesOf(graph)]).toEqual([
      [
        { osd: 0, why },
        { osd: 5, why },
      ],
      [{ osds: [2, 4], atMost: 1 }],
    ])
  })

  it('leave a copy on each site of the set to come', () => {
    const stretched = {
      hosts: { a: [0, 1, 2], b: [3, 4, 5] },
      pools: [{ id: 1, size: 4, minSize: 1 }],
      pgs: [
        { pg: '1.0', acting: [1, 2, 4, 5] },
        { pg: '1.1', acting: [1, 2, 4, 5], up: [0, 1, 3, 4], state: moves },
      ],
    }
    const sitesOf = (graph: SlackHypergraph) => edgesOf(graph).filter(({ atMost }) => atMost === 1)
    expect(sitesOf(build(stretched, { sites: siteRule }))).toEqual([
      { osds: [1, 2], atMost: 1 },
      { osds: [4, 5], atMost: 1 },
      { osds: [1, 2], atMost: 1 },
      { osds: [4, 5], atMost: 1 },
      { osds: [0, 1], atMost: 1 },
      { osds: [3, 4], atMost: 1 },
    ])
    const next = { ...stretched, pgs: [{ pg: '1.1', acting: [1, 2, 4, 5], up: [0, 1, 2, 4], state: moves }] }
    expect(build(next, { sites: siteRule }).blocked).toEqual([
      { osd: 4, why: 'placement group 1.1 of pool rbd has its last copy of a site there' },
    ])
  })

  it('say nothing of sites to a pool that is not stretched', () => {
    expect(
      edgesOf(
        build(
          { pools: [{ id: 1, size: 4, minSize: 1 }], pgs: [{ pg: '1.0', acting: [0, 1, 2, 3] }] },
          { sites: [{ poolIds: [2], type: 'host' }] },
        ),
      ),
    ).toEqual([{ osds: [0, 1, 2, 3], atMost: 3 }])
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
    'is everything while several have never been reported, and the first by name is told': [
      {
        pgs: [
          { pg: '1.1e', acting: [], state: 'unknown' },
          whole,
          { pg: '1.1c', acting: [], state: 'unknown' },
          { pg: '1.1d', acting: [], state: 'unknown' },
        ],
      },
      targets,
      'placement group 1.1c of pool rbd has not been reported by any OSD yet, so its OSDs are not known',
    ],
    'is told with the first by name also where that is met first': [
      {
        pgs: [
          { pg: '1.a', acting: [0, 2], state: 'active+undersized+degraded' },
          { pg: '1.1b', acting: [0, 2], state: 'active+recovering+degraded' },
        ],
      },
      [0, 2],
      'placement group 1.a of pool rbd has 2 whole copies up and must keep 2 (and 1 more like it)',
    ],
    'is not an OSD that is down: it has nothing left to lose': [
      { osds: [{ id: 0, isUp: false }], pgs: [{ ...whole, state: 'peering' }] },
      [2, 4],
      'placement group 1.1b of pool rbd is not active and must not lose more',
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
