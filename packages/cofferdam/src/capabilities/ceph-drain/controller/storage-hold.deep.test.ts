import { drainNode } from '@cofferdam/simulator/world/testing/drain.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { createDisruption, installDefinitions, ledgerObject } from '../../../ledger/store/testing/ledger-fixture.ts'
import type { ControllerName } from '../../../operator/controller-names.ts'
import { disruptionLedgers, ledgerName } from '../../../shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import { type CephFixture, openCephFixture, zonedCluster } from '../testing/ceph-fixture.ts'
import { storageKey as key, osdBudgetsOf, storageHolders, watchZonesOf, zonesDownIn } from '../testing/storage-watch.ts'

/** Zones x, y and z with two nodes each, node-x-1 to node-z-2, and two OSDs on each of them. */
const pairs = zonedCluster({ nodesPerZone: 2, osdsPerNode: 2 })

const calm = ['rook-ceph-osd: 1 of all']
const controllers = ['ceph-drain', 'node-disruption', 'disruption-ledger'] as const

let fixture: CephFixture
afterEach(() => fixture.close())

async function open(file = pairs, running: readonly ControllerName[] = controllers): Promise<void> {
  fixture = await openCephFixture(file)
  await installDefinitions(fixture.api)
  fixture.operate({ controllers: running })
  await fixture.seconds(120)
  expect(await osdBudgets()).toEqual(calm)
  fixture.written.length = 0
}

const osdBudgets = () => osdBudgetsOf(fixture)
const holders = () => storageHolders(fixture)
const zonesDown = () => zonesDownIn(fixture)
const watchZones = (seconds: number) => watchZonesOf(fixture, seconds)

async function phaseOf(name: string): Promise<string> {
  const { status } = await fixture.api.get(nodeDisruptions, { name })
  return status?.phase ?? 'Pending'
}

async function blockersOf(name: string): Promise<string[]> {
  const { status } = await fixture.api.get(nodeDisruptions, { name })
  return (status?.blockedBy ?? []).map(({ object, reason, holder }) => `${object}: ${reason} (${holder})`)
}

async function reasonOnRecord(): Promise<string | undefined> {
  return (await fixture.record()).metadata.annotations?.['cofferdam.io/reason']
}

describe('one storage, two tools', () => {
  it('a coordinated drain and a kubectl drain begin together in two zones: never do both miss OSDs, and both get done', async () => {
    await open()
    await createDisruption(fixture.api, 'reboot-x', 'node-x-1')
    const drained = drainNode(fixture, 'node-y-1')
    const seen = await watchZones(60)
    // Whoever was second has not begun: its node can come and go meanwhile.
    await fixture.cordon('node-y-1', false)
    fixture.world.kubelet.reboot('node-x-1', 20)
    seen.push(...(await watchZones(240)))
    await fixture.cordon('node-y-1', false)
    fixture.world.kubelet.reboot('node-x-1', 20)
    seen.push(...(await watchZones(240)))
    await drained

    expect([...new Set(seen)].sort()).toEqual(['', 'x', 'y'])
    expect(await phaseOf('reboot-x')).toBe('Completed')
    expect(await holders()).toEqual([])
    expect(await osdBudgets()).toEqual(calm)
  })

  it('the coordinated drain came first: no OSD of another zone can be evicted, and whoever tries is told why', async () => {
    await open()
    // A node without a mon: with one it would be open as soon as the mon has left.
    await createDisruption(fixture.api, 'reboot-x', 'node-x-2')
    // The mgr goes at once, and the next one has heard of all placement groups by then. No OSD of the zone is missing yet.
    await fixture.seconds(6)
    expect(await holders()).toEqual(['x by a request, Acting'])
    expect(await osdBudgets()).toEqual([
      'rook-ceph-osd: 1 of all but 4,5,6,7,8,9,10,11',
      'rook-ceph-osd-zone-y: 0 of topology-location-zone=y',
      'rook-ceph-osd-zone-z: 0 of topology-location-zone=z',
    ])
    expect(await fixture.evictOsd(4)).toBe('refused')
    expect(await fixture.told()).toContain('Normal StorageKeyHeld')
    expect((await fixture.record()).metadata.annotations?.['cofferdam.io/explanation']).toMatch(
      /^zone y, z may not be drained: .*nodedisruption\/reboot-x holds x of storage\/rook-ceph\/rook-ceph since /,
    )
  })

  it('the kubectl drain came first: it holds the key, the request waits and is told who holds it, and goes when all is clean', async () => {
    await open()
    const drained = drainNode(fixture, 'node-y-1')
    await fixture.seconds(30)
    await drained
    expect(await holders()).toEqual(['y by ceph-drain, Acting'])

    await createDisruption(fixture.api, 'reboot-x', 'node-x-1')
    await fixture.seconds(30)
    expect(await phaseOf('reboot-x')).toBe('Waiting')
    const holder = expect.stringMatching(/ceph-drain of rook-ceph\/rook-ceph: .*osd.*down, node-y-1 being drained/)
    const { status } = await fixture.api.get(nodeDisruptions, { name: 'reboot-x' })
    expect(status?.blockedBy).toContainEqual(expect.objectContaining({ object: key, holder, reason: 'HeldByRequest' }))

    await fixture.cordon('node-y-1', false)
    await fixture.seconds(120)
    expect(await phaseOf('reboot-x')).toBe('Drained')
    expect(await holders()).toEqual(['x by a request, Acting', 'x by ceph-drain, Acting'])
  })

  it('the key is taken before the first budget is written, and given back after the last', async () => {
    await open()
    const drained = drainNode(fixture, 'node-y-1')
    await fixture.seconds(30)
    await drained
    const indexOf = (text: string) => fixture.written.indexOf(text)
    const taken = indexOf('update disruptionledgers/cluster')
    expect(taken).toBeGreaterThan(-1)
    expect(taken).toBeLessThan(indexOf('create poddisruptionbudgets/rook-ceph-osd-zone-x'))

    fixture.written.length = 0
    await fixture.cordon('node-y-1', false)
    await fixture.seconds(120)
    expect(await osdBudgets()).toEqual(calm)
    expect(await holders()).toEqual([])
    const lastUpdate = fixture.written.lastIndexOf('update disruptionledgers/cluster')
    expect(lastUpdate).toBeGreaterThan(indexOf('create poddisruptionbudgets/rook-ceph-osd'))
  })
})

describe('somebody else who takes storage down', () => {
  it('holds a zone in the ledger, and nothing of it is down yet: a kubectl drain elsewhere does not even begin', async () => {
    await open(pairs, ['ceph-drain', 'node-disruption'])
    await writeEntry({ requestId: 'fence-1', holder: 'fence of node-x-1', scope: 'x', epoch: 1 }, 2)
    await fixture.seconds(1)
    const drained = drainNode(fixture, 'node-y-1')
    expect(await watchZones(60)).toEqual([''])
    expect(await reasonOnRecord()).toBe('StorageKeyHeld')

    await fixture.api.delete(disruptionLedgers, { name: ledgerName })
    expect(await watchZones(60)).toContain('y')
    await drained
  })

  it('takes all of the storage: nothing of it may go', async () => {
    await open(pairs, ['ceph-drain', 'node-disruption'])
    await writeEntry({ requestId: 'fence-1', holder: 'fence', scope: '', epoch: 1 }, 2)
    await fixture.seconds(1)
    expect(await osdBudgets()).toEqual(['rook-ceph-osd: 0 of all'])
  })
})

describe('two coordinated drains', () => {
  it('in the same zone they go along', async () => {
    await open()
    await createDisruption(fixture.api, 'reboot-1', 'node-x-1')
    await createDisruption(fixture.api, 'reboot-2', 'node-x-2')
    expect((await watchZones(90)).join()).toMatch(/^,?x$/)
    expect(await Promise.all(['reboot-1', 'reboot-2'].map(phaseOf))).toEqual(['Drained', 'Drained'])
    expect(await holders()).toEqual(['x by a request, Acting', 'x by a request, Acting', 'x by ceph-drain, Acting'])
  })

  it('in two zones the second waits, and goes by itself when the first node is back and all data is clean', async () => {
    await open()
    await createDisruption(fixture.api, 'reboot-x', 'node-x-1')
    await fixture.seconds(1)
    await createDisruption(fixture.api, 'reboot-y', 'node-y-1')
    const seen = await watchZones(60)
    expect([await phaseOf('reboot-x'), await phaseOf('reboot-y')]).toEqual(['Drained', 'Waiting'])
    expect(await blockersOf('reboot-y')).toContainEqual(expect.stringContaining(`${key}: HeldByRequest`))

    fixture.world.kubelet.reboot('node-x-1', 20)
    seen.push(...(await watchZones(150)))
    expect([await phaseOf('reboot-x'), await phaseOf('reboot-y')]).toEqual(['Completed', 'Drained'])
    expect([...new Set(seen)].sort()).toEqual(['', 'x', 'y'])
  })
})

describe('the ledger in trouble', () => {
  it('wiped while a zone is open: the zone is entered again, and no other one opens meanwhile', async () => {
    await open()
    const drained = drainNode(fixture, 'node-y-1')
    await fixture.seconds(30)
    await drained
    await fixture.api.delete(disruptionLedgers, { name: ledgerName })
    await createDisruption(fixture.api, 'reboot-x', 'node-x-1')
    expect(await watchZones(60)).toEqual(['y'])
    expect(await holders()).toEqual(['y by ceph-drain, Acting'])
    expect(await phaseOf('reboot-x')).toBe('Waiting')
  })

  it('nonsense: nothing begins, what has begun waits with a reason, and goes on when the ledger is of use again', async () => {
    await open()
    await writeNonsense()
    await fixture.seconds(5)
    expect(await reasonOnRecord()).toBe('LedgerUnknown')
    expect(await osdBudgets()).toEqual(['rook-ceph-osd: 0 of all'])
    const drained = drainNode(fixture, 'node-y-1')
    await fixture.seconds(60)
    expect(await zonesDown()).toEqual([])

    await fixture.api.delete(disruptionLedgers, { name: ledgerName })
    await fixture.seconds(60)
    await drained
    expect(await holders()).toEqual(['y by ceph-drain, Acting'])
  })

  it('nonsense while a zone is open: it stays open, every other one stays held', async () => {
    await open()
    const drained = drainNode(fixture, 'node-y-1')
    await fixture.seconds(30)
    await drained
    await writeNonsense()
    await fixture.seconds(60)
    expect(await osdBudgets()).toEqual([
      'rook-ceph-osd-zone-x: 0 of topology-location-zone=x',
      'rook-ceph-osd-zone-z: 0 of topology-location-zone=z',
    ])
  })

  it('a holder that vanished is counted until the node is back: no other zone may begin before', async () => {
    await open()
    await createDisruption(fixture.api, 'reboot-x', 'node-x-1')
    await fixture.seconds(60)
    expect(await phaseOf('reboot-x')).toBe('Drained')
    const body = { metadata: { finalizers: null } }
    await fixture.api.delete(nodeDisruptions, { name: 'reboot-x' })
    await fixture.api.patch(nodeDisruptions, { name: 'reboot-x' }, { type: 'merge', body }).catch(() => undefined)
    fixture.world.kubelet.powerOff('node-x-1')
    await fixture.seconds(120)
    expect(await holders()).toEqual(['x by a request, Orphaned', 'x by ceph-drain, Acting'])
    expect(await fixture.evictOsd(4)).toBe('refused')

    fixture.world.kubelet.powerOn('node-x-1')
    await fixture.cordon('node-x-1', false)
    await fixture.seconds(240)
    expect(await holders()).toEqual([])
    expect(await osdBudgets()).toEqual(calm)
  })

  it('an operator that dies in the middle of a drain leaves its entry to the next one, under a new epoch', async () => {
    fixture = await openCephFixture(pairs)
    await installDefinitions(fixture.api)
    const first = fixture.operate({ controllers })
    await fixture.seconds(120)
    const drained = drainNode(fixture, 'node-y-1')
    await fixture.seconds(30)
    await drained
    const before = (await ledgerObject(fixture.api)).status?.entries?.[0]?.epoch ?? 0
    await Promise.all([first.stop(), fixture.seconds(20)])
    fixture.operate({ controllers })
    await fixture.seconds(30)
    expect(await holders()).toEqual(['y by ceph-drain, Acting'])
    expect((await ledgerObject(fixture.api)).status?.entries?.[0]?.epoch).toBeGreaterThan(before)
    await fixture.cordon('node-y-1', false)
    await fixture.seconds(120)
    expect(await holders()).toEqual([])
  })
})

it('an idle cluster costs no write, ledger or not', async () => {
  await open()
  await fixture.seconds(2 * 3600)
  expect(fixture.written).toEqual([])
})

/** An entry under an epoch that was never given out. */
async function writeNonsense(): Promise<void> {
  await writeEntry({ requestId: 'nobody', holder: 'somebody', scope: 'x', epoch: 900 }, 1)
}

/** Puts an entry into the ledger in place of all others, as whoever has the right could. */
async function writeEntry(
  entry: { readonly requestId: string; readonly holder: string; readonly scope: string; readonly epoch: number },
  nextEpoch: number,
): Promise<void> {
  const object = await ledgerObject(fixture.api).catch(() =>
    fixture.api.create(disruptionLedgers, {
      apiVersion: 'cofferdam.io/v1alpha1',
      kind: 'DisruptionLedger',
      metadata: { name: ledgerName },
    }),
  )
  const acting = { key, uid: '', state: 'Acting' as const, since: '2026-01-01T00:00:00Z', renewSequence: 0, ...entry }
  const status = { nextEpoch, nextTicket: 1, ...object.status, entries: [acting] }
  await fixture.api.update(disruptionLedgers, { ...object, status }, { subresource: 'status' })
}
