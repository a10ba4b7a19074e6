import { describe, expect, it } from 'vitest'
import { decideLonghornDrain } from './decide.ts'
import { evictionTicketType } from './eviction-ticket.ts'
import { IndexedSnapshot } from './longhorn-index.ts'
import { whyNoPlace } from './place-for-copy.ts'
import type { DiskRoom, DiskView } from './snapshot.ts'
import { type Fixture, longhornFixture, type NodeSetting, type VolumeSetting } from './testing/longhorn-fixture.ts'

const gib = 2 ** 30
const flagged = { isEvictionRequested: true }
const free: DiskRoom = {
  isSchedulable: true,
  maximum: 100 * gib,
  available: 90 * gib,
  scheduled: 10 * gib,
  reserved: 20 * gib,
}

function withDisk(disk: Partial<DiskView>, node: string): NodeSetting {
  return {
    takesReplicas: true,
    disks: [{ name: 'd1', uuid: `disk-${node}`, isEvictionAsked: false, allowScheduling: true, ...disk }],
  }
}

const leaving: NodeSetting = { isCordoned: true, takesReplicas: false }

/** A volume of 10 GiB with 5 GiB of data and one copy on n1, which leaves; and what n2 and n3 are. */
function why(n2: NodeSetting, more: Partial<VolumeSetting> = {}, settings: Partial<Fixture> = {}): string | undefined {
  const db = { copies: { n1: flagged }, numberOfReplicas: 1, sizeBytes: 10 * gib, actualBytes: 5 * gib, ...more }
  const seen = longhornFixture({ nodes: { n1: leaving, n2 }, volumes: { db } })
  const index = new IndexedSnapshot()
  const { room } = settings
  index.update({ ...seen, settings: { ...seen.settings, ...(room === undefined ? {} : { room }) } })
  const [volume] = seen.volumes
  return volume === undefined ? undefined : whyNoPlace(index, volume)
}

describe('another copy of a volume', () => {
  const has = (n2: string) => `n1 is cordoned, n2 ${n2}`
  const onDisk = (text: string) => has(`has no disk for it (d1 ${text})`)
  const full = (change: Partial<DiskRoom>) => withDisk({ room: { ...free, ...change } }, 'n2')
  const rows: Record<string, readonly [string | undefined, string | undefined]> = {
    'has a place on a node with room': [why(withDisk({ room: free }, 'n2')), undefined],
    'may have a place where the room is not known': [why(withDisk({}, 'n2')), undefined],
    'has none on a node that is cordoned': [why(leaving), has('is cordoned')],
    'has none on a node that takes no replicas': [why({ takesReplicas: false }), has('takes no replicas')],
    'has none on a node that does not answer': [why({ kubernetes: 'silent' }), has('does not answer')],
    'has none on a node without an instance manager': [
      why({ ...withDisk({ room: free }, 'n2'), manager: { isRunning: false } }),
      has('has no running instance manager'),
    ],
    'has none beside a copy that stays': [
      why(withDisk({ room: free }, 'n2'), { copies: { n1: flagged, n2: 'healthy' }, numberOfReplicas: 2 }),
      has('has a copy already'),
    ],
    'has one beside a copy where copies may share a node': [
      why(withDisk({ room: free }, 'n2'), {
        copies: { n1: flagged, n2: 'healthy' },
        numberOfReplicas: 2,
        sharesNodes: true,
      }),
      undefined,
    ],
    'may have one beside a copy that leaves as well': [
      why(withDisk({ room: free }, 'n2'), { copies: { n1: flagged, n2: flagged }, numberOfReplicas: 2 }),
      undefined,
    ],
    'needs none where enough stay': [
      why(leaving, { copies: { n1: flagged, n2: 'healthy' }, numberOfReplicas: 1 }),
      undefined,
    ],
    'has none without the tag of the node': [
      why({ ...withDisk({ room: free }, 'n2'), tags: ['hdd'] }, { nodeTags: ['ssd'] }),
      has('lacks the tag ssd'),
    ],
    'has none without the tag of the disk': [
      why(withDisk({ room: free, tags: [] }, 'n2'), { diskTags: ['fast'] }),
      onDisk('lacks the tag fast'),
    ],
    'has none on a disk that is emptied': [why(withDisk({ isEvictionAsked: true }, 'n2')), onDisk('is being emptied')],
    'has none on a disk that takes none': [
      why(withDisk({ allowScheduling: false }, 'n2')),
      onDisk('takes no replicas'),
    ],
    'has none on a disk that Longhorn calls unschedulable': [
      why(full({ isSchedulable: false })),
      onDisk('is not schedulable'),
    ],
    'has none where too much is scheduled, less what is reserved': [
      why(full({ scheduled: 71 * gib })),
      onDisk('has 9 GiB to schedule, the volume is 10 GiB'),
    ],
    'has one where it fits exactly': [why(full({ scheduled: 70 * gib })), undefined],
    'has one where more may be scheduled than there is': [
      why(full({ scheduled: 71 * gib }), {}, { room: { overProvisioning: 200, minimalAvailable: 25 } }),
      undefined,
    ],
    'has none where its data would leave too little free': [
      why(full({ available: 30 * gib })),
      onDisk('has 5 GiB to use, the volume has 5 GiB of data'),
    ],
    'has one where a byte more is free': [why(full({ available: 30 * gib + 1 })), undefined],
  }
  it.each(Object.entries(rows))('%s', (_, [said, expected]) => {
    expect(said).toBe(expected)
  })
})

describe('a detached volume whose replica is to leave', () => {
  const volume: VolumeSetting = {
    copies: { n1: flagged },
    numberOfReplicas: 1,
    state: 'detached',
    sizeBytes: 10 * gib,
    actualBytes: 5 * gib,
  }
  const decide = (room: DiskRoom, more: Partial<VolumeSetting> = {}) =>
    decideLonghornDrain(
      longhornFixture({
        policy: 'block-for-eviction',
        nodes: { n1: leaving, n2: withDisk({ room }, 'n2') },
        volumes: { db: { ...volume, ...more } },
      }),
    ).nodes[0]

  it('says that no disk has room, and which lacks what: Longhorn leaves it detached and says so in its log alone', () => {
    expect(decide({ ...free, scheduled: 75 * gib })).toMatchObject({
      reason: 'NoPlaceForReplica',
      explanation:
        'Replica db-n1 of volume db, which is detached, is to leave node n1, but no node takes another copy: n1 is cordoned, n2 has no disk for it (d1 has 5 GiB to schedule, the volume is 10 GiB).',
      blockers: [{ object: 'replica/db-n1', reason: 'NoPlaceForReplica' }],
    })
  })

  it('waits to be attached where a disk has room, and where Longhorn attaches it already', () => {
    const ticket = { id: `${evictionTicketType}-db`, type: evictionTicketType, node: 'n2' }
    expect(decide(free)?.reason).toBe('ReplicaMustLeave')
    expect(decide({ ...free, scheduled: 75 * gib }, { tickets: [ticket] })?.reason).toBe('ReplicaMustLeave')
  })
})

it('of many nodes without a place a few are named, and the others counted; a node without a disk says so', () => {
  const ids = ['n2', 'n3', 'n4', 'n5', 'n6', 'n7', 'n8']
  const empty: NodeSetting = { takesReplicas: true, disks: [] }
  const nodes = { n1: leaving, ...Object.fromEntries(ids.map((id) => [id, empty])) }
  const seen = longhornFixture({ nodes, volumes: { db: { copies: { n1: flagged }, numberOfReplicas: 1 } } })
  const index = new IndexedSnapshot()
  index.update(seen)
  const said = whyNoPlace(index, seen.volumes[0] as (typeof seen.volumes)[number])
  expect(said).toBe('n1 is cordoned, n2 has no disk, n3 has no disk, n4 has no disk, n5 has no disk, 3 more')
})

it('a Longhorn whose nodes are not seen yet denies no place', () => {
  const seen = longhornFixture({
    nodes: { n1: leaving },
    volumes: { db: { copies: { n1: flagged }, numberOfReplicas: 1 } },
  })
  const index = new IndexedSnapshot()
  index.update({ ...seen, nodes: [] })
  expect(whyNoPlace(index, seen.volumes[0] as (typeof seen.volumes)[number])).toBeUndefined()
})
