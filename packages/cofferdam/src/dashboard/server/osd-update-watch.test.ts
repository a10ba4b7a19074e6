import { configMaps, deployments } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { openWorld } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, describe, expect, it } from 'vitest'
import {
  newImage,
  type OsdUpdateFixture,
  openOsdUpdateFixture,
} from '../../capabilities/osd-update/testing/osd-update-fixture.ts'
import type { UpdatePart } from './osd-update-overview.ts'
import { createOsdUpdateWatch } from './osd-update-watch.ts'
import type { SettledWatch } from './settled-watch.ts'

const namespace = 'rook-ceph'
const record = { namespace, name: 'cofferdam-osd-update-rook-ceph' }

let fixture: OsdUpdateFixture | undefined
let watch: SettledWatch<UpdatePart>
afterEach(async () => {
  await watch.stop()
  await fixture?.close()
  fixture = undefined
})

/** Without an operator a record stays as it was written. */
async function open(operation?: 'operated'): Promise<OsdUpdateFixture> {
  fixture = await openOsdUpdateFixture()
  if (operation !== undefined) fixture.operate({ controllers: ['osd-update'] })
  watch = createOsdUpdateWatch({ api: fixture.api, clock: fixture.clock, random: seededRandom(1) })
  await fixture.seconds(2)
  return fixture
}

function board() {
  return [...watch.list()].find((piece) => piece.piece === 'board')
}

function states() {
  return [...watch.list()].flatMap((piece) => (piece.piece === 'host' ? piece.osds.map(([, state]) => state) : []))
}

describe('an update of OSDs on the page', () => {
  it('is not there before the first one, is told as it goes, and ends with every OSD done', async () => {
    const fixture = await open('operated')
    expect([...watch.list()]).toEqual([])
    const told: string[] = []
    watch.subscribe((change) => {
      if (change.type !== 'removed') told.push(change.value.piece)
    })
    await fixture.wantImage(newImage)
    await fixture.until(async () => states().includes('on-the-way'), 60)
    expect(board()).toMatchObject({ cluster: 'rook-ceph', reason: 'OsdsUpdating', total: states().length })
    await fixture.until(async () => board()?.endedMs !== undefined, 900)
    expect(new Set(states())).toEqual(new Set(['done']))
    expect(board()).toMatchObject({ reason: 'OsdsUpToDate', running: 0, waiting: 0, blocked: 0, failed: 0 })
    expect(new Set(told)).toEqual(new Set(['board', 'plan', 'host']))
  })

  it('loses an OSD with its Deployment, and goes with its cluster', async () => {
    const fixture = await open('operated')
    await fixture.wantImage(newImage)
    await fixture.until(async () => board() !== undefined, 60)
    const before = states().length
    await fixture.api.delete(deployments, { namespace, name: 'rook-ceph-osd-0' })
    await fixture.seconds(2)
    expect(states()).toHaveLength(before - 1)
    await fixture.deleteCluster()
    await fixture.seconds(2)
    expect([...watch.list()]).toEqual([])
  })

  it('goes when its record is deleted, though the cluster stays', async () => {
    const fixture = await open()
    await fixture.storeRecord({ record: JSON.stringify({ generation: 1, done: 0 }) })
    await fixture.seconds(1)
    expect(board()).toMatchObject({ done: 6 })
    await fixture.deleteRecord()
    await fixture.seconds(1)
    expect([...watch.list()]).toEqual([])
  })

  const broken: Record<string, { data?: Record<string, string>; then: object }> = {
    'a record that is no JSON is named': {
      data: { record: 'not json' },
      then: { reason: 'UpdateRecordUnreadable', explanation: expect.stringContaining(record.name) },
    },
    'a record without data is named': {
      then: { reason: 'UpdateRecordUnreadable', explanation: expect.stringContaining(record.name) },
    },
    'a plan of nonsense is left out, and said to be': {
      data: { record: JSON.stringify({ generation: 1, done: 0 }), plan: '[[1],["x"]]', blocked: '{}' },
      then: { explanation: expect.stringContaining('plan') },
    },
  }
  it.each(Object.entries(broken))('%s, and the OSDs are shown all the same', async (_name, { data, then }) => {
    const fixture = await open()
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: record, ...(data === undefined ? {} : { data }) }
    await fixture.api.create(configMaps, object)
    await fixture.seconds(1)
    expect(board()).toMatchObject(then)
    expect([...watch.list()].filter(({ piece }) => piece === 'plan')).toEqual([])
    expect(states().length).toBeGreaterThan(0)
  })

  it('other ConfigMaps are not looked at, whatever is in them', async () => {
    const fixture = await open()
    for (const name of ['cofferdam-osd-update-other', 'anything']) {
      await fixture.api.create(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name } })
    }
    await fixture.seconds(1)
    expect([...watch.list()]).toEqual([])
  })
})

it('without Rook there is nothing to show, and nobody waits for it', async () => {
  const { api, clock, seconds, stop } = await openWorld({ nodeCount: 1 })
  watch = createOsdUpdateWatch({ api, clock, random: seededRandom(1) })
  await seconds(2)
  expect({ isSynced: watch.synced, pieces: [...watch.list()] }).toEqual({ isSynced: true, pieces: [] })
  stop()
})
