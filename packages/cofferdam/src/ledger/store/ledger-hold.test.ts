import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { cluster, key } from '../../capabilities/ceph-drain/domain/testing/small-ledger.ts'
import type { Observed } from '../../shared/observed.ts'
import { storageHold } from '../rules/hold-storage.ts'
import { grant, intend, type Ledger, orphan } from '../rules/ledger.ts'
import { ownRequestId } from '../rules/storage-arbiter.ts'
import { LedgerHold } from './ledger-hold.ts'
import { decideHeld } from './testing/decide-held.ts'
import { type HoldFixture, type LedgerWay, openHoldFixture, renewMs } from './testing/hold-fixture.ts'

const { signal } = new AbortController()
let fixture: HoldFixture

afterEach(() => fixture.stop())

async function open(options?: Parameters<typeof openHoldFixture>[0], api?: (api: KubeApi) => KubeApi) {
  fixture = await openHoldFixture(options)
  const way = fixture.way(api?.(fixture.api))
  return { way, hold: await holder(way) }
}

async function holder(way: LedgerWay) {
  await way.refresh()
  return new LedgerHold(fixture.clock, way, storageHold)
}

type Hold = Awaited<ReturnType<typeof holder>>

const wants = (scope: string) => {
  const holder = 'ceph-drain of rook-ceph/my-cluster: osd.1 down'
  return {
    wants: 'hold' as const,
    requestId: ownRequestId(cluster, scope),
    holder,
    claim: { key, uid: 'uid-1', scope },
  }
}

/** Opens the scope whatever the ledger says, unless it is unknown. Tells what was decided on, one after the other. */
async function decide(hold: Hold, scope: string, given = signal) {
  const seen: string[] = []
  const opened = await fixture.settled(
    decideHeld(
      hold,
      cluster,
      (ledger: Observed<Ledger> | undefined) => {
        seen.push(ledger === undefined ? 'no ledger' : ledger.known ? says(ledger.value).join(', ') : ledger.why)
        return ledger?.known === false ? undefined : scope
      },
      (opens) => (opens === undefined ? undefined : wants(opens)),
      given,
    ),
  )
  return { opened, seen }
}

const says = ({ entries }: Ledger) =>
  entries.map(({ requestId, scope, state, epoch }) => `${requestId.split('/')[0]} has ${scope}, ${state} at ${epoch}`)
const now = async () => says(await fixture.ledger())

async function change(next: (ledger: Ledger) => Ledger): Promise<void> {
  const other = fixture.way()
  await fixture.settled(other.store.change('change', (ledger) => ({ ledger: next(ledger), value: undefined }), signal))
}

const taken = (requestId: string, scope: string) => (ledger: Ledger) => {
  const request = { requestId, holder: requestId, claims: [{ key, uid: 'uid-1', scope }], now: '2026-01-01T00:00:00Z' }
  const answer = grant(ledger, request)
  const begun = answer.granted ? intend(answer.ledger, { requestId, epoch: answer.epoch }) : undefined
  return begun?.ok ? begun.ledger : ledger
}

const unreachable = (api: KubeApi) =>
  changedApi(api, { update: () => Promise.reject(new CofferdamError('API_UNREACHABLE', 'the line is cut')) })

describe('acquiring', () => {
  it('what is free is held before the decision is told', async () => {
    const { hold } = await open()
    expect(await decide(hold, 'a')).toEqual({ opened: 'a', seen: [''] })
    expect([await now(), hold.holds(cluster)]).toEqual([['ceph-drain has a, Acting at 1'], true])
  })

  it('what the view shows as ours is not asked for again', async () => {
    let writes = 0
    const { hold, way } = await open({}, (api) => {
      const update = ((...request: Parameters<KubeApi['update']>) => {
        writes += 1
        return api.update(...request)
      }) as KubeApi['update']
      return changedApi(api, { update })
    })
    await decide(hold, 'a')
    await way.refresh()
    await decide(hold, 'a')
    expect(writes).toBe(1)
  })

  it('what somebody else took since the view was read is decided again on what is true, and given up after three times', async () => {
    const { hold } = await open()
    await change(taken('reboot-1', 'b'))
    const others = 'reboot-1 has b, Acting at 1'
    expect(await decide(hold, 'a')).toEqual({
      opened: undefined,
      seen: ['', others, others, 'it changes all the time'],
    })
    expect([await now(), hold.holds(cluster)]).toEqual([[others], false])
  })

  it('more than can be had leaves what was held before, and it is known as ours still', async () => {
    const { hold } = await open()
    await decide(hold, 'a')
    await change(taken('reboot-1', 'a'))
    expect((await decide(hold, 'a+b')).opened).toBeUndefined()
    expect([(await now())[0], hold.holds(cluster)]).toEqual(['ceph-drain has a, Acting at 1', true])
  })

  it('more than can be had is no hold of a process whose successor has taken over: it would go on as the holder', async () => {
    const { hold, way } = await open()
    await decide(hold, 'a')
    await way.refresh()
    await decide(await holder(way), 'a')
    await change(taken('reboot-1', 'a'))
    expect((await decide(hold, 'a+b')).opened).toBeUndefined()
    expect([(await now())[0], hold.holds(cluster)]).toEqual(['ceph-drain has a, Acting at 2', false])
  })

  it('what an earlier process held goes on under a new epoch', async () => {
    const { hold, way } = await open()
    await decide(hold, 'a')
    await way.refresh()
    await decide(await holder(way), 'a')
    expect(await now()).toEqual(['ceph-drain has a, Acting at 2'])
  })

  it('without a ledger everything is decided at once, and nothing is held', async () => {
    fixture = await openHoldFixture()
    const hold = new LedgerHold(fixture.clock, undefined, storageHold)
    expect(await decide(hold, 'a')).toEqual({ opened: 'a', seen: ['no ledger'] })
    expect([await hold.settle(cluster, 'release', signal), hold.holds(cluster)]).toEqual([{}, false])
  })

  it('where the kind is not installed nobody can hold anything: it is decided, and not held', async () => {
    const { hold } = await open({ isInstalled: false })
    expect((await decide(hold, 'a')).opened).toBe('a')
    expect([hold.holds(cluster), hold.recheckAfterSeconds(cluster)]).toEqual([false, undefined])
  })

  it('a ledger that cannot be written is unknown to the decision: nothing opens without a hold', async () => {
    const { hold } = await open({}, unreachable)
    expect(await decide(hold, 'a')).toEqual({ opened: undefined, seen: ['', 'the line is cut'] })
  })

  it('an end that is asked for meanwhile passes through', async () => {
    const ended = new AbortController()
    const { hold } = await open({}, (api) =>
      changedApi(api, {
        update: () => {
          ended.abort()
          return Promise.reject(new CofferdamError('API_UNREACHABLE', 'the operator ends'))
        },
      }),
    )
    await expect(decide(hold, 'a', ended.signal)).rejects.toThrow('the operator ends')
  })
})

describe('keeping', () => {
  const sequence = async () => (await fixture.ledger()).entries[0]?.renewSequence

  it('shows that the holder lives when it is due, not before', async () => {
    const { hold } = await open()
    await decide(hold, 'a')
    const told = []
    for (const ms of [renewMs - 1_000, 1_000, 1_000]) {
      await fixture.clock.advance(ms)
      await fixture.settled(hold.settle(cluster, 'keep', signal))
      told.push([await sequence(), hold.recheckAfterSeconds(cluster)])
    }
    expect(told).toEqual([
      [0, 1],
      [1, 20],
      [1, 19],
    ])
  })

  it('goes on while the view lags: asking for what is held already showed nobody that the holder lives, and it was taken for dead', async () => {
    const { hold } = await open()
    for (let rounds = 0; rounds < 5; rounds += 1) {
      await decide(hold, 'a')
      await fixture.settled(hold.settle(cluster, 'keep', signal))
      await fixture.clock.advance(renewMs / 2)
    }
    expect(await sequence()).toBe(2)
  })

  it('takes up what an earlier process held, though the decision does not ask for it: it would be taken for dead', async () => {
    const { hold, way } = await open()
    await decide(hold, 'a')
    const next = await holder(way)
    await fixture.settled(next.settle(cluster, 'keep', signal))
    expect([await now(), next.holds(cluster)]).toEqual([['ceph-drain has a, Acting at 2'], true])
  })

  it('takes up what was taken for dead', async () => {
    const { hold } = await open()
    await decide(hold, 'a')
    await change((ledger) => orphan(ledger, ownRequestId(cluster, 'a')))
    await fixture.clock.advance(renewMs)
    await fixture.settled(hold.settle(cluster, 'keep', signal))
    expect(await now()).toEqual(['ceph-drain has a, Acting at 2'])
  })

  it('knows when it was lost, and asks nobody again every second', async () => {
    const { hold } = await open()
    await decide(hold, 'a')
    await change((ledger) => ({ ...ledger, entries: [] }))
    await fixture.clock.advance(renewMs)
    await fixture.settled(hold.settle(cluster, 'keep', signal))
    expect([hold.holds(cluster), hold.recheckAfterSeconds(cluster)]).toEqual([false, undefined])
  })
})

describe('releasing', () => {
  it('frees what is ours, and tells what is left for others', async () => {
    const { hold } = await open()
    await decide(hold, 'a')
    await change(taken('reboot-1', 'a'))
    const { freed } = await fixture.settled(hold.settle(cluster, 'release', signal))
    expect([freed && says(freed), await now(), hold.holds(cluster)]).toEqual([
      ['reboot-1 has a, Acting at 2'],
      ['reboot-1 has a, Acting at 2'],
      false,
    ])
  })

  it('costs nothing where nothing is held', async () => {
    const { hold } = await open()
    expect(await hold.settle(cluster, 'release', signal)).toEqual({ freed: await fixture.ledger() })
  })

  it('is done though the view has never been read: what an earlier process held would stay for ever', async () => {
    const { hold } = await open()
    await decide(hold, 'a')
    const blind = new LedgerHold(fixture.clock, fixture.way(), storageHold)
    await fixture.settled(blind.settle(cluster, 'release', signal))
    expect(await now()).toEqual([])
  })

  it('that cannot be done is told, and tried again', async () => {
    const { hold, way } = await open()
    await decide(hold, 'a')
    const cut = fixture.way(unreachable(fixture.api))
    await cut.refresh()
    const failing = new LedgerHold(fixture.clock, cut, storageHold)
    const { failure } = await fixture.settled(failing.settle(cluster, 'release', signal))
    expect(failure).toMatchObject({ object: 'disruptionledger/cluster', problem: 'the line is cut' })
    await way.refresh()
    await fixture.settled(hold.settle(cluster, 'release', signal))
    expect(await now()).toEqual([])
  })
})
