import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type PlacedReplica,
  type PlacementDisk,
  type PlacementNode,
  type PlacementRequest,
  placeReplica,
} from './replica-scheduler.ts'

const gib = 1024 ** 3

function disk(uuid: string, changes: Partial<PlacementDisk> = {}): PlacementDisk {
  return {
    uuid,
    diskType: 'filesystem',
    tags: [],
    isOpen: true,
    available: 100 * gib,
    maximum: 100 * gib,
    reserved: 0,
    scheduled: 0,
    ...changes,
  }
}

/** `a1`: the first node of zone a, with one disk `a1-d`. */
function node(name: string, changes: Partial<PlacementNode> = {}): PlacementNode {
  return { name, zone: name[0] ?? '', tags: [], isOpen: true, canStart: true, disks: [disk(`${name}-d`)], ...changes }
}

function replica(place: string, changes: Partial<PlacedReplica> = {}): PlacedReplica {
  return { node: place, diskUuid: `${place}-d`, isEvicting: false, isFailed: false, isReusable: false, ...changes }
}

const evicting = { isEvicting: true }
const hard: PlacementRequest = {
  sizeBytes: 10 * gib,
  actualBytes: gib,
  dataEngine: 'v1',
  nodeSelector: [],
  diskSelector: [],
  isNodeSoft: false,
  isZoneSoft: false,
  isDiskSoft: false,
  ignoresReusable: false,
  minimalAvailablePercent: 25,
  overProvisioningPercent: 100,
}
const zoneSoft = { ...hard, isZoneSoft: true }
const allSoft = { ...zoneSoft, isNodeSoft: true, isDiskSoft: true }

interface Row {
  readonly request?: PlacementRequest
  readonly nodes: readonly PlacementNode[]
  readonly replicas?: readonly PlacedReplica[]
  /** The node and disk, or the reasons why there is none. */
  readonly expected: string | readonly string[]
}

const tables: Record<string, Record<string, Row>> = {
  'linked clones': {
    'they go where a copy of their source is': {
      request: { ...hard, onlyDisks: ['b1-d'] },
      nodes: [node('a1'), node('b1', { disks: [disk('b1-c'), disk('b1-d')] })],
      expected: 'b1/b1-d',
    },
    'and nowhere without one': {
      request: { ...hard, onlyDisks: [] },
      nodes: [node('a1'), node('b1')],
      expected: ['linked clone replica cannot be satisfied'],
    },
  },
  'anti-affinity': {
    'a node in a zone without a copy comes before one in a zone that has one': {
      request: zoneSoft,
      nodes: [node('a1'), node('a2'), node('b1')],
      replicas: [replica('a1')],
      expected: 'b1/b1-d',
    },
    'hard zones: with one zone the second copy has no place (row 37)': {
      nodes: [node('a1'), node('a2')],
      replicas: [replica('a1')],
      expected: ['nodes are unavailable'],
    },
    'hard zones that the volume itself overrides: the second copy goes to the other node (row 37)': {
      request: zoneSoft,
      nodes: [node('a1'), node('a2')],
      replicas: [replica('a1')],
      expected: 'a2/a2-d',
    },
    'hard zones: where only copies are that are to go, their own node serves again (row 36)': {
      nodes: [node('a1', { disks: [disk('a1-d'), disk('a1-e')] }), node('b1')],
      replicas: [replica('a1', evicting), replica('b1')],
      expected: 'a1/a1-e',
    },
    'hard zones: not where a copy that stays shares the zone (row 36)': {
      nodes: [node('a1', { disks: [disk('a1-d'), disk('a1-e')] }), node('a2'), node('b1')],
      replicas: [replica('a1', evicting), replica('a2'), replica('b1')],
      expected: ['nodes are unavailable'],
    },
    'soft zones and hard nodes: an unused node comes before one whose copies are all to go': {
      request: zoneSoft,
      nodes: [node('a1', { disks: [disk('a1-d'), disk('a1-e')] }), node('a2')],
      replicas: [replica('a1', evicting)],
      expected: 'a2/a2-d',
    },
    'soft zones and hard nodes: the other disk of the node serves when no node is unused': {
      request: zoneSoft,
      nodes: [node('a1', { disks: [disk('a1-d'), disk('a1-e')] }), node('a2')],
      replicas: [replica('a1', evicting), replica('a2')],
      expected: 'a1/a1-e',
    },
    'hard nodes: a node with a copy that stays never serves': {
      request: zoneSoft,
      nodes: [node('a1'), node('a2')],
      replicas: [replica('a1'), replica('a2')],
      expected: ['nodes are unavailable'],
    },
    'all soft: a used node is better than none': {
      request: allSoft,
      nodes: [node('a1')],
      replicas: [replica('a1')],
      expected: 'a1/a1-d',
    },
    'soft nodes and hard disks: the second copy on one disk has no place (row 38)': {
      request: { ...allSoft, isDiskSoft: false },
      nodes: [node('a1')],
      replicas: [replica('a1')],
      expected: ['no free disk under hard disk anti-affinity'],
    },
    'soft disks: a disk without a copy still comes first': {
      request: allSoft,
      nodes: [node('a1', { disks: [disk('a1-d'), disk('a1-e', { available: 90 * gib })] })],
      replicas: [replica('a1')],
      expected: 'a1/a1-e',
    },
    'copies on a cordoned node use nothing up: its zone looks free': {
      nodes: [node('a1', { isOpen: false }), node('a2'), node('b1')],
      replicas: [replica('a1'), replica('b1')],
      expected: 'a2/a2-d',
    },
  },
  'failed copies': {
    'one that may come back keeps its node while the volume waits for it (row 39)': {
      request: zoneSoft,
      nodes: [node('a1')],
      replicas: [replica('a1', { isFailed: true, isReusable: true })],
      expected: ['nodes are unavailable'],
    },
    'one that may come back makes room once the wait is over (row 39)': {
      request: { ...zoneSoft, ignoresReusable: true },
      nodes: [node('a1')],
      replicas: [replica('a1', { isFailed: true, isReusable: true })],
      expected: 'a1/a1-d',
    },
    'one that is lost for good takes no room (row 39)': {
      request: zoneSoft,
      nodes: [node('a1')],
      replicas: [replica('a1', { isFailed: true })],
      expected: 'a1/a1-d',
    },
    'one that is lost for good takes no room on its disk either (row 39)': {
      request: { ...allSoft, isDiskSoft: false },
      nodes: [node('a1')],
      replicas: [replica('a1', { isFailed: true })],
      expected: 'a1/a1-d',
    },
  },
  'what a place must have': {
    'a closed node is not chosen': { nodes: [node('a1', { isOpen: false })], expected: ['nodes are unavailable'] },
    'a node whose instance manager does not run is not chosen': {
      nodes: [node('a1', { canStart: false }), node('b1')],
      expected: 'b1/b1-d',
    },
    'a disk that is to be emptied or is closed is not chosen (row 40)': {
      nodes: [node('a1', { disks: [disk('a1-d', { isOpen: false })] })],
      expected: ['disks are unavailable'],
    },
    'a volume of the second engine needs a block disk': {
      request: { ...hard, dataEngine: 'v2' },
      nodes: [node('a1'), node('b1', { disks: [disk('b1-d', { diskType: 'block' })] })],
      expected: 'b1/b1-d',
    },
    'tags of node and disk are required together': {
      request: { ...hard, nodeSelector: ['big'], diskSelector: ['ssd'] },
      nodes: [
        node('a1', { tags: ['big'] }),
        node('b1', { tags: ['big'], disks: [disk('b1-d', { tags: ['ssd', 'raid'] })] }),
        node('c1', { disks: [disk('c1-d', { tags: ['ssd'] })] }),
      ],
      expected: 'b1/b1-d',
    },
    'no node with the tags: the reason says so': {
      request: { ...hard, nodeSelector: ['big'] },
      nodes: [node('a1')],
      expected: ['tags not fulfilled'],
    },
    'a disk keeps a quarter of its room free of data': {
      nodes: [node('a1', { disks: [disk('a1-d', { available: 26 * gib })] })],
      expected: ['insufficient storage'],
    },
    'a disk promises no more than it has, without what is reserved': {
      nodes: [node('a1', { disks: [disk('a1-d', { reserved: 30 * gib, scheduled: 61 * gib })] })],
      expected: ['insufficient storage'],
    },
    'all reasons are given': {
      request: { ...hard, diskSelector: ['ssd'] },
      nodes: [
        node('a1', { disks: [disk('a1-d', { isOpen: false })] }),
        node('b1', { disks: [disk('b1-d', { available: 0 })] }),
        node('c1'),
      ],
      expected: ['disks are unavailable', 'insufficient storage', 'tags not fulfilled'],
    },
    'a copy that cannot leave its node finds no other': {
      request: { ...allSoft, hardNode: 'a1' },
      nodes: [node('a1', { isOpen: false }), node('b1')],
      expected: ['hard affinity cannot be satisfied'],
    },
  },
  'the best of several': {
    'the node whose choice leaves all nodes most even': {
      nodes: [
        node('a1', { disks: [disk('a1-d', { scheduled: 40 * gib })] }),
        node('b1', { disks: [disk('b1-d', { scheduled: 10 * gib })] }),
        node('c1', { disks: [disk('c1-d', { scheduled: 30 * gib })] }),
      ],
      expected: 'b1/b1-d',
    },
    'then the emptier of its disks': {
      nodes: [node('a1', { disks: [disk('a1-d', { scheduled: 20 * gib }), disk('a1-e', { scheduled: 10 * gib })] })],
      expected: 'a1/a1-e',
    },
    'the node of the workload comes first where locality is wished, however full': {
      request: { ...zoneSoft, preferredNode: 'a1' },
      nodes: [node('a1', { disks: [disk('a1-d', { scheduled: 60 * gib })] }), node('b1')],
      expected: 'a1/a1-d',
    },
    'a wished locality that cannot be is no obstacle': {
      request: { ...zoneSoft, preferredNode: 'a1' },
      nodes: [node('a1'), node('b1')],
      replicas: [replica('a1')],
      expected: 'b1/b1-d',
    },
  },
}

for (const [title, rows] of Object.entries(tables)) {
  describe(title, () => {
    it.each(Object.entries(rows))('%s', (_name, { request = hard, nodes, replicas = [], expected }) => {
      for (const turned of [false, true]) {
        const order = <T>(items: readonly T[]) => (turned ? items.toReversed() : items)
        const facts = {
          request,
          nodes: order(nodes).map((one) => ({ ...one, disks: order(one.disks) })),
          replicas: order(replicas),
        }
        const answer = placeReplica(facts)
        expect(answer.isPlaced ? `${answer.node}/${answer.diskUuid}` : answer.reasons).toEqual(expected)
      }
    })
  })
}

it('the order in which nodes, disks and copies are listed decides nothing (row 36)', () => {
  const names = ['a1', 'a2', 'b1', 'b2', 'c1']
  const facts = fc.record({
    request: fc.constantFrom(hard, zoneSoft, allSoft),
    nodes: fc.shuffledSubarray(
      names.map((name) => node(name, { disks: [disk(`${name}-d`), disk(`${name}-e`)] })),
      { minLength: 1 },
    ),
    replicas: fc.array(
      fc.record({ place: fc.constantFrom(...names), isEvicting: fc.boolean(), isFailed: fc.boolean() }),
      { maxLength: 4 },
    ),
  })
  fc.assert(
    fc.property(facts, ({ request, nodes, replicas }) => {
      const copies = replicas.map(({ place, ...changes }) => replica(place, changes))
      const answer = placeReplica({ request, nodes, replicas: copies })
      const sorted = nodes.toSorted((a, b) => (a.name < b.name ? -1 : 1))
      expect(placeReplica({ request, nodes: sorted, replicas: copies.toReversed() })).toEqual(answer)
    }),
    { numRuns: 300 },
  )
})
