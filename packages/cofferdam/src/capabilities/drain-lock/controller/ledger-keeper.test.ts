import type { Event } from '@cofferdam/kubernetes/api/core.ts'
import { deployments, events, nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { createWatchCache } from '@cofferdam/kubernetes/informers/watch-cache.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { runController } from '@cofferdam/kubernetes/runtime/controller.ts'
import { EventRecorder, eventWriter } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import { budget, deployment, openWorld } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { defaultAppLockPolicy } from '../../../ledger/rules/app-lock.ts'
import type { Claim } from '../../../ledger/rules/claim.ts'
import { defaultDrainLockSettings } from '../../../ledger/rules/drain-lock-settings.ts'
import { grant, intend, renew } from '../../../ledger/rules/ledger.ts'
import { createLedgerStore } from '../../../ledger/store/ledger-store.ts'
import {
  createDisruption,
  heldKeys,
  installDefinitions,
  ledgerObject,
} from '../../../ledger/store/testing/ledger-fixture.ts'
import { disruptionLedgers, ledgerName } from '../../../shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import { known, unknown } from '../../../shared/observed.ts'
import type { StorageFacts } from '../../../shared/storage-facts.ts'
import { createLedgerKeeper } from './ledger-keeper.ts'

const { signal } = new AbortController()
const closing: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** Three nodes with three pods of shop/web over them, a budget for those, storage that answers as told, and the keeper. */
async function open() {
  const world = await openWorld({ nodeCount: 3 })
  const { api, clock, random } = world
  await installDefinitions(api)
  await api.create(deployments, deployment('web'))
  await api.create(podDisruptionBudgets, budget('web', { maxUnavailable: 1 }))
  await world.seconds(20)
  const storage = { facts: storageFacts(known(true)) as readonly StorageFacts[], undone: [] as string[] }
  const base = { api, clock, random }
  const ledgers = createWatchCache({ ...base, type: disruptionLedgers })
  const disruptions = createWatchCache({ ...base, type: nodeDisruptions })
  const store = createLedgerStore(base)
  const failures: unknown[] = []
  const running = runController(
    createLedgerKeeper({
      api,
      clock,
      store,
      ledgers,
      disruptions,
      renewMs: 20_000,
      settings: { drainLock: defaultDrainLockSettings, appLocks: defaultAppLockPolicy },
      observeStorage: async () => storage.facts,
      undo: async (entries) => {
        storage.undone.push(...entries.map(({ key }) => key))
      },
      events: new EventRecorder({ clock, write: eventWriter({ ...base, component: 'cofferdam' }) }),
    }),
    { ...base, onOutcome: (outcome) => outcome.result === 'failed' && failures.push(outcome.error) },
  )
  await world.seconds(1)
  closing.push(async () => {
    const stopped = running.stop()
    await world.seconds(11)
    await stopped
    await Promise.all([ledgers.stop(), disruptions.stop()])
    world.stop()
    expect(failures).toEqual([])
  })

  const node = (await api.get(nodes, { name: 'node-1' })) as { metadata: { uid?: string } }
  const web = await api.get(podDisruptionBudgets, { namespace: 'default', name: 'web' })
  const claims: Claim[] = [
    { key: 'node/node-1', uid: node.metadata.uid ?? '', scope: '' },
    { key: 'pdb/default/web', uid: web.metadata.uid ?? '', scope: '' },
    { key: 'storage/rook/ceph', uid: 'ceph-uid', scope: 'zone-a' },
  ]
  const bootID = async () => (await api.get(nodes, { name: 'node-1' })).status?.nodeInfo?.bootID ?? ''
  return {
    ...world,
    store,
    storage,
    claims,
    async take(requestId: string, wanted: readonly Claim[] = claims) {
      const request = {
        requestId,
        holder: `drainer of ${requestId.slice(0, 8)}`,
        claims: wanted,
        now: timestamp(clock),
      }
      return store.change(
        'take',
        (ledger) => {
          const answer = grant(ledger, request)
          return { ledger: answer.ledger, value: answer.granted ? answer.epoch : 0 }
        },
        signal,
      )
    },
    async intend(requestId: string, epoch: number) {
      const by = { requestId, epoch, bootID: await bootID() }
      await store.change('intend', (ledger) => settle(intend(ledger, by), ledger), signal)
    },
    async renew(requestId: string, epoch: number) {
      await store.change('renew', (ledger) => settle(renew(ledger, { requestId, epoch }), ledger), signal)
    },
    async cordon(isCordoned: boolean) {
      const body = { spec: { unschedulable: isCordoned ? true : null } }
      await api.patch(nodes, { name: 'node-1' }, { type: 'merge', body })
    },
    async told(): Promise<string[]> {
      const { items } = await api.list(events)
      return items
        .filter(({ involvedObject }) => involvedObject.name === ledgerName)
        .sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
        .map(({ type, reason }: Event) => `${type} ${reason}`)
    },
  }
}

function settle<L>(change: { ok: true; ledger: L } | { ok: false; why: string }, ledger: L) {
  if (!change.ok) throw new Error(change.why)
  return { ledger: change.ledger ?? ledger, value: undefined }
}

function storageFacts(isClean: StorageFacts['isClean']): readonly StorageFacts[] {
  const mayGo = known({ allowed: true, explanation: '' })
  return [{ key: 'storage/rook/ceph', uid: 'ceph-uid', failureDomain: 'zone-a', mayGo, isClean }]
}

const short = (id: string | undefined) => id?.slice(0, 8)

describe('a request that somebody deletes', () => {
  it('before it touched anything leaves its keys free within seconds', async () => {
    const fixture = await open()
    const { metadata } = await createDisruption(fixture.api, 'reboot-1', 'node-1')
    await fixture.take(metadata.uid ?? '')
    await fixture.seconds(30)
    expect(await heldKeys(fixture.api)).toHaveLength(3)
    await fixture.api.delete(nodeDisruptions, { name: 'reboot-1' })
    await fixture.seconds(2)
    expect(await heldKeys(fixture.api)).toEqual([])
    expect(await fixture.told()).toEqual(['Normal GrantFreed'])
  })

  it('while it waits leaves its place in the line', async () => {
    const fixture = await open()
    const first = await createDisruption(fixture.api, 'reboot-1', 'node-1')
    const second = await createDisruption(fixture.api, 'reboot-again', 'node-1')
    await fixture.take(first.metadata.uid ?? '')
    await fixture.take(second.metadata.uid ?? '')
    await fixture.api.delete(nodeDisruptions, { name: 'reboot-again' })
    await fixture.seconds(2)
    expect((await ledgerObject(fixture.api)).status?.tickets).toEqual([])
    expect(await heldKeys(fixture.api)).toHaveLength(3)
    expect(await fixture.told()).toEqual(['Normal TicketWithdrawn'])
  })

  it('after it had begun leaves its keys held until the node is back in another boot and storage is clean', async () => {
    const fixture = await open()
    const { metadata } = await createDisruption(fixture.api, 'reboot-1', 'node-1')
    const id = metadata.uid ?? ''
    await fixture.intend(id, await fixture.take(id))
    await fixture.cordon(true)
    await fixture.api.delete(nodeDisruptions, { name: 'reboot-1' })
    await fixture.seconds(30)
    const held = [
      `node/node-1 Orphaned ${short(id)} at 1`,
      `pdb/default/web Orphaned ${short(id)} at 1`,
      `storage/rook/ceph Orphaned ${short(id)} at 1`,
    ]
    expect(await heldKeys(fixture.api)).toEqual(held)

    fixture.storage.facts = storageFacts(known(false))
    fixture.world.kubelet.reboot('node-1', 120)
    await fixture.seconds(60)
    expect(await heldKeys(fixture.api)).toEqual(held)
    await fixture.seconds(120)
    expect(await heldKeys(fixture.api)).toEqual(held)
    expect(new Set(fixture.storage.undone)).toEqual(new Set(['node/node-1']))
    fixture.storage.undone.length = 0

    fixture.storage.facts = storageFacts(known(true))
    await fixture.seconds(11)
    expect(await heldKeys(fixture.api)).toEqual([])
    expect(fixture.storage.undone).toEqual(['node/node-1', 'pdb/default/web', 'storage/rook/ceph'])
    expect((await fixture.told()).filter((news) => news !== 'Warning OrphanHeld')).toEqual([
      'Warning HolderGone',
      'Normal OrphanBuried',
    ])
  })

  it('after it had begun, whose node then takes pods again without a reboot, leaves nothing', async () => {
    const fixture = await open()
    const { metadata } = await createDisruption(fixture.api, 'reboot-1', 'node-1')
    const id = metadata.uid ?? ''
    await fixture.intend(id, await fixture.take(id))
    await fixture.cordon(true)
    await fixture.api.delete(nodeDisruptions, { name: 'reboot-1' })
    await fixture.seconds(60)
    expect(await heldKeys(fixture.api)).toHaveLength(3)
    await fixture.cordon(false)
    await fixture.seconds(11)
    expect(await heldKeys(fixture.api)).toEqual([])
  })

  it('whose node never comes back keeps its keys, says so once, and lets go when the node is deleted', async () => {
    const fixture = await open()
    const { metadata } = await createDisruption(fixture.api, 'reboot-1', 'node-1')
    const id = metadata.uid ?? ''
    await fixture.intend(id, await fixture.take(id, fixture.claims.slice(0, 1)))
    fixture.world.kubelet.powerOff('node-1')
    await fixture.seconds(120)
    await fixture.api.delete(nodeDisruptions, { name: 'reboot-1' })
    await fixture.seconds(1_200)
    expect(await heldKeys(fixture.api)).toEqual([`node/node-1 Orphaned ${short(id)} at 1`])
    expect(await fixture.told()).toEqual(['Warning HolderGone', 'Warning OrphanHeld'])
    await fixture.api.delete(nodes, { name: 'node-1' })
    await fixture.seconds(11)
    expect(await heldKeys(fixture.api)).toEqual([])
  })
})

describe('storage that does not answer', () => {
  it('keeps the keys of an orphan held', async () => {
    const fixture = await open()
    const { metadata } = await createDisruption(fixture.api, 'reboot-1', 'node-1')
    const id = metadata.uid ?? ''
    await fixture.intend(id, await fixture.take(id))
    fixture.storage.facts = storageFacts(unknown('Ceph is silent'))
    await fixture.api.delete(nodeDisruptions, { name: 'reboot-1' })
    await fixture.seconds(300)
    expect(await heldKeys(fixture.api)).toHaveLength(3)
  })
})

describe('a holder that is no NodeDisruption', () => {
  it('keeps what it has while it renews, and is given up a minute after the last time', async () => {
    const fixture = await open()
    const epoch = await fixture.take('other-tool')
    for (let count = 0; count < 6; count += 1) {
      await fixture.seconds(45)
      await fixture.renew('other-tool', epoch)
    }
    expect(await heldKeys(fixture.api)).toHaveLength(3)
    await fixture.seconds(55)
    expect(await heldKeys(fixture.api)).toHaveLength(3)
    await fixture.seconds(20)
    expect(await heldKeys(fixture.api)).toEqual([])
    expect(await fixture.told()).toEqual(['Normal GrantFreed'])
  })

  it('that had begun is an orphan then, and whoever comes back with its epoch is refused', async () => {
    const fixture = await open()
    const epoch = await fixture.take('other-tool')
    await fixture.intend('other-tool', epoch)
    fixture.storage.facts = storageFacts(known(false))
    await fixture.seconds(80)
    expect(await heldKeys(fixture.api)).toEqual([
      'node/node-1 Orphaned other-to at 1',
      'pdb/default/web Orphaned other-to at 1',
      'storage/rook/ceph Orphaned other-to at 1',
    ])
    await expect(fixture.renew('other-tool', epoch)).rejects.toThrow('not-granted')
    await fixture.take('other-tool')
    await fixture.renew('other-tool', 2)
    expect((await heldKeys(fixture.api))[0]).toBe('node/node-1 Acting other-to at 2')
  })
})

describe('a ledger that somebody deletes', () => {
  it('while a node is away is rebuilt at once: nobody else gets what is away, and the request adopts its own', async () => {
    const fixture = await open()
    const { metadata } = await createDisruption(fixture.api, 'reboot-1', 'node-1')
    const id = metadata.uid ?? ''
    await fixture.intend(id, await fixture.take(id))
    const [node, web] = fixture.claims as [Claim, Claim, Claim]
    const current = await fixture.api.get(nodeDisruptions, { name: 'reboot-1' })
    const lockedBudgets = [{ namespace: 'default', name: 'web', uid: web.uid }]
    const status = { phase: 'Draining' as const, epoch: 1, nodeUid: node.uid, bootIDBefore: 'boot', lockedBudgets }
    await fixture.api.update(nodeDisruptions, { ...current, status }, { subresource: 'status' })
    await fixture.api.delete(disruptionLedgers, { name: ledgerName })
    await expect(fixture.take('other-tool', [web])).rejects.toMatchObject({ code: 'LEDGER_LOST' })
    await fixture.seconds(2)
    expect(await heldKeys(fixture.api)).toEqual([
      `node/node-1 Orphaned ${short(id)} at 1`,
      `pdb/default/web Orphaned ${short(id)} at 1`,
      `storage/rook/ceph Orphaned ${short(id)} at 1`,
    ])
    expect(await fixture.take('other-tool', [web])).toBe(0)
    expect(await fixture.take(id)).toBe(2)
    expect(await fixture.told()).toEqual(['Warning LedgerRebuilt'])
  })
})

describe('a ledger that somebody edits into nonsense', () => {
  it('is left as it is, and said to be so once', async () => {
    const fixture = await open()
    await fixture.take('other-tool')
    const object = await ledgerObject(fixture.api)
    const entries = (object.status?.entries ?? []).map((entry) => ({ ...entry, epoch: 99 }))
    const status = { ...object.status, entries } as NonNullable<typeof object.status>
    await fixture.api.update(disruptionLedgers, { ...object, status }, { subresource: 'status' })
    await fixture.seconds(300)
    expect((await ledgerObject(fixture.api)).status?.entries).toEqual(entries)
    expect(await fixture.told()).toEqual(['Warning LedgerUnusable'])
  })
})

describe('the settings of the operator', () => {
  const published = async ({ api }: Awaited<ReturnType<typeof open>>) => {
    const { metadata } = await api.get(disruptionLedgers, { name: ledgerName })
    return metadata.annotations?.['cofferdam.io/settings']
  }
  const text =
    '{"mode":"reserve","minTolerationSeconds":900,"fallbackAfterSeconds":1800,"maxLockSeconds":14400,"maxHoldSeconds":43200,"locksPerNamespace":5,"plannedOutageSeconds":3600}'
  const annotate = ({ api }: Awaited<ReturnType<typeof open>>, settings: string | null) => {
    const body = { metadata: { annotations: { 'cofferdam.io/settings': settings } } }
    return api.patch(disruptionLedgers, { name: ledgerName }, { type: 'merge', body })
  }

  it('stand on the ledger from the beginning, and once there nothing is written', async () => {
    const fixture = await open()
    expect(await published(fixture)).toBe(text)
    const before = (await fixture.api.get(disruptionLedgers, { name: ledgerName })).metadata.resourceVersion
    await fixture.seconds(3_600)
    expect((await fixture.api.get(disruptionLedgers, { name: ledgerName })).metadata.resourceVersion).toBe(before)
  })

  it.each([['{}'], [null]])('changed by hand to %j they are written again', async (settings) => {
    const fixture = await open()
    await annotate(fixture, settings)
    await fixture.seconds(1)
    expect(await published(fixture)).toBe(text)
  })

  it('come back with a ledger that was deleted', async () => {
    const fixture = await open()
    await fixture.api.delete(disruptionLedgers, { name: ledgerName })
    await fixture.seconds(1)
    expect(await published(fixture)).toBe(text)
  })
})
