import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { cephImage } from '@cofferdam/simulator/cluster-file/build-ceph-resources.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { type FencingFixture, openFencingFixture } from './testing/fencing-fixture.ts'
import { openUpdateFixture, type UpdateFixture, type UpdateFixtureOptions } from './testing/osd-update-fixture.ts'
import { watchOsdUpdates } from './testing/osd-update-oracle.ts'

let fixture: UpdateFixture | undefined
let fenced: FencingFixture | undefined
afterEach(async () => {
  await fixture?.close()
  await fenced?.close()
  fixture = undefined
  fenced = undefined
})

const [old, next] = ['v19.2.3', 'v19.2.4'] as const

async function open(options: UpdateFixtureOptions = {}): Promise<UpdateFixture> {
  fixture = await openUpdateFixture({ annotations: { 'cofferdam.io/update-max-in-parallel': '3' }, ...options })
  fixture.operate()
  await fixture.seconds(60)
  return fixture
}

async function begin(on: UpdateFixture): Promise<void> {
  await on.want(next)
  await on.until('some are on their way', () => on.oracle.onTheWay().length > 0, 30)
  await on.seconds(3)
}

async function end(on: UpdateFixture): Promise<void> {
  await on.until('all are updated', () => on.isUpdated(next), 1_200)
  await on.until('the storage is given back', () => on.holders().length === 0, 180)
  const { violations, below } = on.oracle
  expect({ violations, below }).toEqual({ violations: [], below: [] })
}

/** Who held the storage, one after the other: `osd-update all`, `request storage-2`. */
function turns({ trace }: UpdateFixture): string[] {
  return trace.lines.flatMap((line) => {
    const [, scope, holder = ''] = /held: (\S+) of the storage for (\S+)/.exec(line) ?? []
    return scope === undefined ? [] : [`${holder.startsWith('operator') ? 'request' : holder} ${scope}`]
  })
}

const patient = 240_000

describe('an update and a drain never have the storage at the same time, and both end', () => {
  it(
    'a node is asked for in the middle of an update: it waits for what is on its way, and goes before the rest',
    async () => {
      const on = await open()
      await begin(on)
      await on.request('reboot', 'storage-2')
      await on.until('the node may reboot', () => on.phaseOf('reboot') === 'Drained', 300)
      expect({ started: on.oracle.started.length, onTheWay: on.oracle.onTheWay() }).toEqual({
        started: 3,
        onTheWay: [],
      })
      on.world.kubelet.reboot('storage-2', 20)
      await on.until('the request is over', () => on.phaseOf('reboot') === 'Completed', 400)
      await end(on)
      expect(turns(on)).toEqual(['osd-update all', 'request storage-2', 'ceph-drain storage-2', 'osd-update all'])
      await expect(on.trace.text()).toMatchFileSnapshot('./osd-update-and-reboot.golden.txt')
    },
    patient,
  )

  it(
    'kubectl drains a node in the middle of an update: it waits for what is on its way, and goes before the rest',
    async () => {
      const on = await open()
      await begin(on)
      const drain = on.drain('storage-2')
      await on.until('the drain is over', drain.isOver, 600)
      await drain.ended
      await on.seconds(120)
      expect({ started: on.oracle.started.length, onTheWay: on.oracle.onTheWay() }).toEqual({
        started: 3,
        onTheWay: [],
      })
      await on.cordon('storage-2', false)
      await end(on)
      expect(turns(on)).toEqual(['osd-update all', 'ceph-drain storage-2', 'osd-update all'])
    },
    patient,
  )

  it(
    'kubectl drains two nodes in the middle of an update: they go one after the other, and both before the rest',
    async () => {
      const on = await open()
      await begin(on)
      const drains = [on.drain('storage-2'), on.drain('storage-4')]
      await on.until('one drain is over', () => drains.some(({ isOver }) => isOver()), 300)
      await on.seconds(120)
      const [first, second] = drains[0]?.isOver() === true ? ['storage-2', 'storage-4'] : ['storage-4', 'storage-2']
      await on.cordon(first, false)
      await on.until('the other one is over', () => drains.every(({ isOver }) => isOver()), 300)
      expect(on.oracle.started.length).toBe(3)
      await on.cordon(second, false)
      await end(on)
      expect(turns(on)).toEqual(['osd-update all', `ceph-drain ${first}`, `ceph-drain ${second}`, 'osd-update all'])
    },
    patient,
  )

  it(
    'a node is cordoned in the middle of an update and nobody drains it: the update waits for that once, and goes on without its OSDs',
    async () => {
      const on = await open()
      await begin(on)
      await on.cordon('storage-2')
      const held = [`2: ${old}`, `3: ${old}`]
      const left = () => on.versionsByOsd().filter((line) => line.endsWith(old))
      await on.until('all others are updated', () => left().join() === held.join(), 600)
      await on.until('the storage is given back', () => on.holders().length === 0, 180)
      expect((await on.told()).filter((line) => line.endsWith('DrainFirst'))).toEqual(['Normal DrainFirst'])
      await on.cordon('storage-2', false)
      await end(on)
      expect(turns(on)).toEqual(['osd-update all', 'osd-update all', 'osd-update all'])
    },
    patient,
  )

  it(
    'an update is asked for while a node is drained: no OSD is touched before it is back and all data clean',
    async () => {
      const on = await open()
      const drain = on.drain('storage-4')
      await on.until('the drain is over', drain.isOver, 300)
      await on.want(next)
      await on.seconds(120)
      expect(on.oracle.started).toEqual([])
      expect(await on.told()).toContain('Normal StorageKeyHeld')
      await on.cordon('storage-4', false)
      await end(on)
      expect(turns(on)).toEqual(['ceph-drain storage-4', 'osd-update all'])
    },
    patient,
  )

  it(
    'an update and a request for a node come in the same moment: one goes first, and both end',
    async () => {
      const on = await open()
      await Promise.all([on.want(next), on.request('reboot', 'storage-2')])
      await on.until('the node may reboot', () => on.phaseOf('reboot') === 'Drained', 400)
      expect(on.oracle.onTheWay()).toEqual([])
      on.world.kubelet.reboot('storage-2', 20)
      await on.until('the request is over', () => on.phaseOf('reboot') === 'Completed', 400)
      await end(on)
    },
    patient,
  )
})

describe('what else can happen in the middle of an update', () => {
  it(
    'an OSD crashes: what starts after that counts it as gone, and the update ends',
    async () => {
      const on = await open()
      await begin(on)
      await on.killPod(8)
      await on.seconds(1)
      on.ceph.controls.failDisk(2)
      await on.seconds(90)
      on.ceph.controls.mendDisk(2)
      await on.until('all are updated', () => on.isUpdated(next), 1_200)
      await on.until('the storage is given back', () => on.holders().length === 0, 180)
      expect(on.oracle.violations).toEqual([])
    },
    patient,
  )

  it(
    'a machine falls sick: it is fenced when the storage is free, and no OSD starts while it is being fenced',
    async () => {
      fenced = await openFencingFixture({
        storage: 5,
        osdsPerNode: 2,
        notReadySeconds: 60,
        recoveryPgsPerSecond: 8,
        timings: { provisionSeconds: 20, terminateSeconds: 5, rebootSeconds: 30 },
      })
      const on = fenced
      const cluster = { namespace: 'rook-ceph', name: 'rook-ceph' }
      const [ceph] = on.ceph
      if (ceph === undefined) throw new RangeError('there is no Ceph')
      const oracle = watchOsdUpdates({ ...on, ceph: ceph.controls, ...cluster, patienceMs: 3_000 })
      on.operate()
      await on.until('one machine may go', on.isOpen, 60)
      const want = (version: string) => {
        const image = cephImage.replace(/[^:]+$/, version)
        const metadata = { annotations: { 'cofferdam.io/update-mons-first': 'false' } }
        const body = { metadata, spec: { cephVersion: { image } } }
        return on.api.patch(cephClusters, cluster, { type: 'merge', body })
      }
      const isEnded = async (starts: number) => {
        oracle.look()
        const isBack = oracle.started.length >= starts && oracle.onTheWay().length === 0
        return isBack && (await on.storageKeys()).length === 0
      }
      await want(next)
      await on.seconds(6)
      on.sicken('storage-4')
      await on.until('all are updated', () => isEnded(10), 900)
      expect(on.oracle.taken).toEqual([])
      await on.until('it is fenced', () => on.oracle.taken.length === 1, 400)
      await want('v19.2.5')
      await on.until('the fence is over', on.isOpen, 600)
      // The machine in its place is not among the nodes of the storage spec, so its two OSDs are left alone.
      await on.until('all others are updated once more', () => isEnded(18), 900)
      oracle.stop()
      expect({ update: oracle.violations, fence: on.oracle.violations }).toEqual({ update: [], fence: [] })
    },
    patient,
  )
})
