import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { changedApi, openScenario, type Scenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { disruptionLedgers, ledgerName } from '../../shared/kinds/disruption-ledger.ts'
import type { Claim } from '../rules/claim.ts'
import type { Ledger } from '../rules/ledger.ts'
import { adopt, emptyLedger, grant, intend, renew } from '../rules/ledger.ts'
import { createLedgerStore, type LedgerStep, type LedgerStore } from './ledger-store.ts'
import { claim, createDisruption, heldKeys, installDefinitions, ledgerObject } from './testing/ledger-fixture.ts'

const { signal } = new AbortController()
const now = '2026-01-01T00:00:00Z'
let scenario: Scenario | undefined

afterEach(() => scenario?.stop())

async function open(): Promise<Scenario & { store: LedgerStore }> {
  const opened = openScenario()
  scenario = opened
  await installDefinitions(opened.api)
  return { ...opened, store: createLedgerStore(opened) }
}

/** Runs the clock until the promise has settled. */
async function settled<T>({ clock }: Pick<Scenario, 'clock'>, promise: Promise<T>): Promise<T> {
  let isDone = false
  const done = promise.finally(() => {
    isDone = true
  })
  done.catch(() => {})
  for (let steps = 0; !isDone && steps < 2_000; steps += 1) await clock.advance(50)
  return done
}

function take(requestId: string, ...claims: Claim[]) {
  return (ledger: Ledger): LedgerStep<number | undefined> => {
    const answer = grant(ledger, { requestId, holder: `holder of ${requestId}`, claims, now })
    return { ledger: answer.ledger, value: answer.granted ? answer.epoch : undefined }
  }
}

/** The API, whose n-th write of a status is done as told instead. */
function withStatusWrites(api: KubeApi, instead: (write: () => Promise<unknown>, count: number) => Promise<unknown>) {
  let count = 0
  return changedApi(api, {
    update: ((...request: Parameters<KubeApi['update']>) => {
      count += 1
      return instead(() => api.update(...request), count)
    }) as KubeApi['update'],
  })
}

const silent = () => new CofferdamError('API_UNREACHABLE', 'the connection was cut off')

describe('the ledger', () => {
  it('is empty before anybody wrote to it, and is not made by reading', async () => {
    const { store, api } = await open()
    expect(await store.read(signal)).toEqual({ known: true, value: emptyLedger })
    expect((await api.list(disruptionLedgers)).items).toEqual([])
  })

  it('is made by the first change, and holds what that change gave', async () => {
    const { store, api } = await open()
    expect(await store.change('take', take('R1', claim('node/a')), signal)).toBe(1)
    expect(await heldKeys(api)).toEqual(['node/a Granted R1 at 1'])
    expect(await store.read(signal)).toMatchObject({ known: true, value: { nextEpoch: 2 } })
    expect((await ledgerObject(api)).status).toMatchObject({ held: 1, waiting: 0 })
  })

  it('is not written when nothing changes', async () => {
    const { store, api } = await open()
    await store.change('take', take('R1', claim('node/a')), signal)
    const before = await ledgerObject(api)
    expect(await store.change('take', take('R1', claim('node/a')), signal)).toBe(1)
    expect(await ledgerObject(api)).toEqual(before)
  })

  it('keeps conditions that somebody else put on it', async () => {
    const { store, api } = await open()
    await store.change('take', take('R1', claim('node/a')), signal)
    const condition = { type: 'Watched', status: 'True', reason: 'Yes', message: '', lastTransitionTime: now } as const
    const object = await ledgerObject(api)
    const status = { ...object.status, conditions: [condition] } as NonNullable<typeof object.status>
    await api.update(disruptionLedgers, { ...object, status }, { subresource: 'status' })
    await store.change('take', take('R2', claim('node/b')), signal)
    expect((await ledgerObject(api)).status?.conditions).toEqual([condition])
  })

  it('goes to one of many who ask for the same key at once; all the others wait with a ticket', async () => {
    const fixture = await open()
    const asked = Array.from({ length: 8 }, (_, index) =>
      createLedgerStore(fixture).change('take', take(`R${index}`, claim('pdb/shop/web')), signal),
    )
    const epochs = await settled(fixture, Promise.all(asked))
    expect(epochs.filter((epoch) => epoch !== undefined)).toEqual([1])
    const { status } = await ledgerObject(fixture.api)
    expect(status?.entries).toHaveLength(1)
    expect(status?.tickets?.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7])
  })

  it('gives each of many who ask for different keys at once an epoch of its own', async () => {
    const fixture = await open()
    const asked = Array.from({ length: 8 }, (_, index) =>
      createLedgerStore(fixture).change('take', take(`R${index}`, claim(`node/${index}`)), signal),
    )
    const epochs = await settled(fixture, Promise.all(asked))
    expect([...epochs].sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('that somebody changes every time gives up after a while, says so, and nothing of it is held', async () => {
    const fixture = await open()
    const contended = withStatusWrites(fixture.api, () =>
      Promise.reject(new ApiError('Conflict', 'the object has been modified')),
    )
    const { clock } = fixture
    const change = createLedgerStore({ api: contended, clock }).change(
      'take node/a',
      take('R1', claim('node/a')),
      signal,
    )
    await expect(settled(fixture, change)).rejects.toMatchObject({
      code: 'LEDGER_CONTENDED',
      message: 'could not take node/a: others changed the ledger every time',
    })
    expect(await heldKeys(fixture.api)).toEqual([])
  })
})

describe('a ledger that somebody deletes', () => {
  it('between being made and being written is made again; it was taken for a kind that is not installed, and whoever asked acted without a hold', async () => {
    const fixture = await open()
    const deleted = withStatusWrites(fixture.api, async (write, count) => {
      if (count === 1) await fixture.api.delete(disruptionLedgers, { name: ledgerName })
      return write()
    })
    const store = createLedgerStore({ api: deleted, clock: fixture.clock })
    expect(await settled(fixture, store.change('take', take('R1', claim('node/a')), signal))).toBe(1)
    expect(await heldKeys(fixture.api)).toEqual(['node/a Granted R1 at 1'])
  })

  it('every time is contended, and not absent', async () => {
    const fixture = await open()
    const deleted = withStatusWrites(fixture.api, async (write) => {
      await fixture.api.delete(disruptionLedgers, { name: ledgerName })
      return write()
    })
    const store = createLedgerStore({ api: deleted, clock: fixture.clock })
    const change = store.change('take node/a', take('R1', claim('node/a')), signal)
    await expect(settled(fixture, change)).rejects.toMatchObject({ code: 'LEDGER_CONTENDED' })
  })
})

describe('a reply that is lost', () => {
  it('after the write was made costs nothing: the same grant, the same epoch, one write', async () => {
    const fixture = await open()
    let writes = 0
    const lossy = withStatusWrites(fixture.api, async (write) => {
      writes += 1
      await write()
      throw silent()
    })
    const store = createLedgerStore({ api: lossy, clock: fixture.clock })
    expect(await settled(fixture, store.change('take', take('R1', claim('node/a')), signal))).toBe(1)
    expect(writes).toBe(1)
    expect(await heldKeys(fixture.api)).toEqual(['node/a Granted R1 at 1'])
  })

  it('of an adoption does not use up a second epoch', async () => {
    const fixture = await open()
    await fixture.store.change('take', take('R1', claim('node/a')), signal)
    const lossy = withStatusWrites(fixture.api, async (write) => {
      await write()
      throw silent()
    })
    const epoch = await settled(
      fixture,
      createLedgerStore({ api: lossy, clock: fixture.clock }).change(
        'adopt',
        (ledger) => {
          const adopted = adopt(ledger, { requestId: 'R1', holder: 'new' })
          return { ledger: adopted?.ledger ?? ledger, value: adopted?.epoch }
        },
        signal,
      ),
    )
    expect(epoch).toBe(2)
    expect(await heldKeys(fixture.api)).toEqual(['node/a Granted R1 at 2'])
  })

  it('before the write was made is made up for', async () => {
    const fixture = await open()
    const flaky = withStatusWrites(fixture.api, (write, count) => (count === 1 ? Promise.reject(silent()) : write()))
    const store = createLedgerStore({ api: flaky, clock: fixture.clock })
    expect(await settled(fixture, store.change('take', take('R1', claim('node/a')), signal))).toBe(1)
  })

  it('while somebody else writes too still ends in one grant', async () => {
    const fixture = await open()
    const lossy = withStatusWrites(fixture.api, async (write, count) => {
      await write()
      if (count > 1) return undefined
      await fixture.store.change('take', take('R2', claim('node/b')), signal)
      throw silent()
    })
    const store = createLedgerStore({ api: lossy, clock: fixture.clock })
    expect(await settled(fixture, store.change('take', take('R1', claim('node/a')), signal))).toBe(1)
    expect(await heldKeys(fixture.api)).toEqual(['node/a Granted R1 at 1', 'node/b Granted R2 at 2'])
  })

  it('every time is told to whoever asked', async () => {
    const fixture = await open()
    const dead = withStatusWrites(fixture.api, () => Promise.reject(silent()))
    const store = createLedgerStore({ api: dead, clock: fixture.clock })
    const change = store.change('take', take('R1', claim('node/a')), signal)
    await expect(settled(fixture, change)).rejects.toMatchObject({ code: 'API_UNREACHABLE' })
  })

  it('on reading is an unknown', async () => {
    const { api, clock } = await open()
    const deaf = changedApi(api, { get: () => Promise.reject(silent()) })
    expect(await createLedgerStore({ api: deaf, clock }).read(signal)).toEqual({
      known: false,
      why: 'the connection was cut off',
    })
  })
})

describe('a ledger that was wiped', () => {
  const acted = (epoch: number) => ({
    phase: 'Draining' as const,
    epoch,
    nodeUid: 'uid of node/a',
    bootIDBefore: 'boot-1',
    lockedBudgets: [{ namespace: 'shop', name: 'web', uid: 'uid of pdb/shop/web' }],
  })
  const storage = async () => [claim('storage/rook/ceph', 'zone-a')]

  it('while nothing is under way is simply new, and epochs go on above those of the old records', async () => {
    const { store, api } = await open()
    await createDisruption(api, 'done', 'a', { phase: 'Completed', epoch: 7 })
    expect(await store.change('take', take('R1', claim('node/a')), signal)).toBe(8)
  })

  it('never gives out an epoch again that this process has seen, though no record tells of it', async () => {
    const { store, api } = await open()
    await store.change('take', take('R1', claim('node/a')), signal)
    await api.delete(disruptionLedgers, { name: ledgerName })
    expect(await store.change('take', take('R2', claim('node/a')), signal)).toBe(2)
  })

  it('never gives out an epoch again that is on an annotation', async () => {
    const fixture = await open()
    const store = createLedgerStore({ ...fixture, highestEpoch: () => 30 })
    expect(await store.change('take', take('R1', claim('node/a')), signal)).toBe(31)
  })

  it('while a node is away is known to nobody, and grants nothing', async () => {
    const { store, api } = await open()
    await createDisruption(api, 'reboot-a', 'a', acted(4))
    const why =
      'the ledger has forgotten what is under way (nodedisruption/reboot-a); nothing is granted until it is rebuilt'
    expect(await store.read(signal)).toEqual({ known: false, why })
    await expect(store.change('take', take('R2', claim('node/b')), signal)).rejects.toMatchObject({
      code: 'LEDGER_LOST',
      message: why,
    })
  })

  it('is rebuilt from the records, so that everything that is away is held again', async () => {
    const { store, api } = await open()
    const { metadata } = await createDisruption(api, 'reboot-a', 'a', acted(4))
    const id = metadata.uid?.slice(0, 8)
    expect((await store.restore(storage, signal)).map(({ name }) => name)).toEqual(['reboot-a'])
    expect(await heldKeys(api)).toEqual([
      `node/a Orphaned ${id} at 4`,
      `pdb/shop/web Orphaned ${id} at 4`,
      `storage/rook/ceph Orphaned ${id} at 4`,
    ])
    expect(await store.change('take', take('R2', claim('pdb/shop/web')), signal)).toBeUndefined()
    expect(await store.change('take', take('R3', claim('node/b')), signal)).toBe(5)
    expect(await store.restore(storage, signal)).toEqual([])
  })

  it('is not rebuilt for a request that has just given everything back and not yet said so', async () => {
    const { store, api } = await open()
    await store.change('take', take('R1', claim('node/a')), signal)
    await createDisruption(api, 'reboot-a', 'a', { ...acted(1), phase: 'Recovering' })
    expect(await store.restore(storage, signal)).toEqual([])
  })

  it('and put back from an old copy gets back what it misses, and lets go whoever was only granted a key of it', async () => {
    const { store, api } = await open()
    await store.change('take', take('R1', claim('pdb/shop/web'), claim('node/b')), signal)
    const { metadata } = await createDisruption(api, 'reboot-a', 'a', acted(9))
    const behind = createLedgerStore({ ...(scenario as Scenario), highestEpoch: () => 9 })
    await behind.restore(async () => [], signal)
    const id = metadata.uid?.slice(0, 8)
    expect(await heldKeys(api)).toEqual([`node/a Orphaned ${id} at 9`, `pdb/shop/web Orphaned ${id} at 9`])
  })
})

describe('the API server', () => {
  it('refuses a ledger of another name, with the field named', async () => {
    const { api } = await open()
    const other = { apiVersion: 'cofferdam.io/v1alpha1', kind: 'DisruptionLedger', metadata: { name: 'mine' } }
    await expect(api.create(disruptionLedgers, other)).rejects.toThrow(
      'metadata.name must be cluster: there is one ledger',
    )
  })

  it('refuses to turn the epochs back, whoever asks', async () => {
    const { store, api } = await open()
    await store.change('take', take('R1', claim('node/a')), signal)
    const object = await ledgerObject(api)
    const status = { ...object.status, nextEpoch: 1 } as NonNullable<typeof object.status>
    await expect(api.update(disruptionLedgers, { ...object, status }, { subresource: 'status' })).rejects.toThrow(
      'nextEpoch never goes back',
    )
  })
})

it('a ledger that was edited into nonsense is unknown, and every change is refused with what is wrong', async () => {
  const { store, api } = await open()
  await store.change('take', take('R1', claim('node/a')), signal)
  const object = await ledgerObject(api)
  const [entry] = object.status?.entries ?? []
  if (entry === undefined) throw new Error('nothing is held')
  const entries = [entry, { ...entry, requestId: 'R2', holder: 'somebody' }]
  const status = { ...object.status, entries } as NonNullable<typeof object.status>
  await api.update(disruptionLedgers, { ...object, status }, { subresource: 'status' })
  const why = 'the ledger contradicts itself: node/a is held by holder of R1 and by somebody'
  expect(await store.read(signal)).toEqual({ known: false, why })
  await expect(
    store.change(
      'renew',
      (ledger) => {
        const renewed = renew(ledger, { requestId: 'R1', epoch: 1 })
        return { ledger: renewed.ok ? renewed.ledger : ledger, value: undefined }
      },
      signal,
    ),
  ).rejects.toMatchObject({ code: 'LEDGER_UNUSABLE', message: why })
})

it('a whole life through the store survives the API: granted, intended with its boot', async () => {
  const { store } = await open()
  await store.change('take', take('R1', claim('node/a'), claim('storage/rook/ceph', 'zone-a')), signal)
  await store.change(
    'intend',
    (ledger) => {
      const intended = intend(ledger, { requestId: 'R1', epoch: 1, bootID: 'boot-1' })
      return { ledger: intended.ok ? intended.ledger : ledger, value: undefined }
    },
    signal,
  )
  const entry = { holder: 'holder of R1', requestId: 'R1', epoch: 1, state: 'Acting', since: now, renewSequence: 0 }
  expect(await store.read(signal)).toEqual({
    known: true,
    value: {
      ...emptyLedger,
      nextEpoch: 2,
      nextTicket: 2,
      entries: [
        { ...claim('node/a'), ...entry, bootID: 'boot-1' },
        { ...claim('storage/rook/ceph', 'zone-a'), ...entry },
      ],
    },
  })
})
