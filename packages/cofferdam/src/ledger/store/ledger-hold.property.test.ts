import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runsOf } from '../../../../../test/property-runs.ts'
import { cluster, key } from '../../capabilities/ceph-drain/domain/testing/small-ledger.ts'
import type { Fence } from '../../capabilities/fencing/domain/decision.ts'
import { fenceHold, fenceRequestId } from '../../capabilities/fencing/domain/hold-fence.ts'
import { updateHold } from '../../capabilities/osd-update/domain/hold-for-update.ts'
import { disruptionLedgers, ledgerName } from '../../shared/kinds/disruption-ledger.ts'
import { storageHold } from '../rules/hold-storage.ts'
import { adopt, breakLocks, grant, intend, type Ledger, orphan, release, withdraw } from '../rules/ledger.ts'
import { arbiterOf, conflictingHolder, ownRequestId } from '../rules/storage-arbiter.ts'
import { updateRequestId } from '../rules/update-request.ts'
import { LedgerHold } from './ledger-hold.ts'
import { decideHeld } from './testing/decide-held.ts'
import { type HoldFixture, type LedgerWay, openHoldFixture, renewMs } from './testing/hold-fixture.ts'

const { signal } = new AbortController()
const now = '2026-01-01T00:00:00Z'

const anyScope = fc.constantFrom('a', 'b', 'a+b')
/** What one of the processes does next, on a view that may be old. */
const anyAct = fc.record({
  by: fc.nat({ max: 3 }),
  does: fc.constantFrom('open', 'open', 'keep', 'release'),
  scope: anyScope,
  isFresh: fc.boolean(),
  /** What becomes of its writes: done, done though nobody hears of it, lost on the way there, or lost from then on. */
  fates: fc.array(fc.constantFrom('done', 'done', 'unheard', 'lost', 'cut'), { maxLength: 4 }),
  /** What happens right before each of its writes. */
  hostile: fc.array(
    fc.record({
      does: fc.constantFrom('nothing', 'take', 'take', 'free', 'wait', 'orphan', 'seize', 'break', 'delete'),
      scope: anyScope,
      of: fc.nat({ max: 5 }),
    }),
    { maxLength: 3 },
  ),
  passMs: fc.constantFrom(0, 1_000, renewMs),
})

type Act = typeof anyAct extends fc.Arbitrary<infer A> ? A : never

/** Somebody else with every right to the ledger, and no good intentions. */
function spoil(ledger: Ledger, { does, scope, of }: Act['hostile'][number]): Ledger {
  const requestId = `reboot-${of % 2}`
  const victim = ledger.entries[of % Math.max(1, ledger.entries.length)]
  const ask = () => grant(ledger, { requestId, holder: requestId, claims: [{ key, uid: '', scope }], now })
  if (does === 'wait') return ask().ledger
  if (does === 'take') {
    const answer = ask()
    const begun = answer.granted ? intend(answer.ledger, { requestId, epoch: answer.epoch }) : undefined
    return begun?.ok ? begun.ledger : ledger
  }
  if (does === 'free') {
    const entry = ledger.entries.find((each) => each.requestId === requestId)
    const freed = entry && release(ledger, { requestId, epoch: entry.epoch })
    return withdraw(freed?.ok ? freed.ledger : ledger, requestId)
  }
  if (victim === undefined) return ledger
  if (does === 'orphan') return orphan(ledger, victim.requestId)
  // The same holder in another process, that believes to be the only one.
  if (does === 'seize') return adopt(ledger, { requestId: victim.requestId, holder: victim.holder })?.ledger ?? ledger
  return does === 'break' ? breakLocks(ledger, { keys: [key], by: 'somebody', reason: 'why not', at: now }) : ledger
}

/** One process with its own way to the ledger. */
interface Holder {
  readonly way: LedgerWay
  /** Entries that it may write. */
  readonly isOwn: (requestId: string) => boolean
  act(act: Act): Promise<string | undefined>
}

async function play(acts: readonly Act[]): Promise<void> {
  const fixture = await openHoldFixture()
  try {
    const script: Script = { fates: [], hostile: [], isAsked: false, faults: [] }
    const holders = [drainer, drainer, updater, fencer].map((make) =>
      make(fixture, (isOwn) => line(fixture, script, isOwn)),
    )
    for (const act of acts) {
      const holder = holders[act.by] as Holder
      Object.assign(script, { fates: [...act.fates], hostile: [...act.hostile], isAsked: false })
      await fixture.clock.advance(act.passMs)
      if (act.isFresh) await holder.way.refresh()
      const opened = await fixture.settled(holder.act(act))
      expect(script.faults).toEqual([])
      // Whoever looked at an old view only has it from when that was true.
      if (opened === undefined || !(act.isFresh || script.isAsked)) continue
      const { entries } = await fixture.ledger()
      expect(entries.filter(({ requestId }) => requestId === opened)).toMatchObject([{ state: 'Acting' }])
    }
  } finally {
    fixture.stop()
  }
}

/** What is to happen during one act, and whether the ledger itself was asked. */
interface Script {
  fates: string[]
  hostile: Act['hostile']
  isAsked: boolean
  /** What no write may ever do; told at the end, for whoever writes takes an error for one of the API server's. */
  readonly faults: string[]
}

function faultsOf(before: Ledger, after: Ledger, isOwn: (requestId: string) => boolean): string[] {
  const others = ({ entries }: Ledger) => entries.filter(({ requestId }) => !isOwn(requestId))
  const faults = []
  if (!isSameJson(others(before), others(after))) faults.push("it changed somebody else's entry")
  if (!isSameJson(before.tickets, after.tickets)) faults.push('it changed the queue')
  if (after.nextEpoch < before.nextEpoch) faults.push('an epoch may come twice')
  return faults
}

/** Every write is looked at: whoever dies after it leaves what it left then. */
function line(fixture: HoldFixture, script: Script, isOwn: (requestId: string) => boolean): KubeApi {
  const silent = () => new CofferdamError('API_UNREACHABLE', 'the connection was cut off')
  const hostile = fixture.way()
  const update = async (...request: Parameters<KubeApi['update']>) => {
    const [next, ...rest] = script.hostile
    script.hostile = rest
    if (next?.does === 'delete') await fixture.api.delete(disruptionLedgers, { name: ledgerName }).catch(() => {})
    else if (next !== undefined)
      await hostile.store.change('spoil', (ledger) => ({ ledger: spoil(ledger, next), value: 0 }), signal)
    const fate = script.fates[0] === 'cut' ? 'lost' : script.fates.shift()
    if (fate === 'lost') throw silent()
    const before = await fixture.ledger()
    const answer = await fixture.api.update(...request)
    const after = await fixture.ledger().catch((error: Error) => error.message)
    if (typeof after === 'string') script.faults.push(after)
    else script.faults.push(...faultsOf(before, after, isOwn))
    if (fate === 'unheard') throw silent()
    return answer
  }
  const get = ((...request: Parameters<KubeApi['get']>) => {
    script.isAsked = true
    return fixture.api.get(...request)
  }) as KubeApi['get']
  return changedApi(fixture.api, { get, update: update as KubeApi['update'] })
}

type MakeHolder = (fixture: HoldFixture, line: (isOwn: Holder['isOwn']) => KubeApi) => Holder

const drainer: MakeHolder = (fixture, line) => {
  const isOwn = (requestId: string) => requestId.startsWith('ceph-drain/')
  const way = fixture.way(line(isOwn))
  const hold = new LedgerHold(fixture.clock, way, storageHold)
  return {
    way,
    isOwn,
    async act({ does, scope }) {
      if (does !== 'open') return settle(hold.settle(cluster, does, signal))
      const requestId = ownRequestId(cluster, scope)
      const wanted = { wants: 'hold' as const, requestId, holder: 'ceph-drain', claim: { key, uid: 'uid-1', scope } }
      const isFree = (ledger: Ledger) => conflictingHolder(arbiterOf(ledger, cluster), scope) === undefined
      const answer = await decideHeld(
        hold,
        cluster,
        (ledger) => (ledger?.known && isFree(ledger.value) ? wanted : undefined),
        (decided) => decided,
        signal,
      )
      return answer?.requestId
    },
  }
}

const updater: MakeHolder = (fixture, line) => {
  const requestId = updateRequestId(cluster)
  const isOwn = (each: string) => each === requestId
  const way = fixture.way(line(isOwn))
  const hold = new LedgerHold(fixture.clock, way, updateHold)
  return {
    way,
    isOwn,
    async act({ does }) {
      if (does !== 'open') return settle(hold.settle(cluster, does, signal))
      const wanted = { wants: 'hold' as const, requestId, holder: 'an update', claim: { key, uid: 'uid-1', scope: '' } }
      const answer = await decideHeld(
        hold,
        cluster,
        (ledger) => (ledger?.known ? wanted : undefined),
        (decided) => decided,
        signal,
      )
      return answer?.requestId
    },
  }
}

/** A fence has begun already: what it cannot hold is told. */
const fencer: MakeHolder = (fixture, line) => {
  const isOwn = (requestId: string) => requestId.startsWith('fencing/')
  const way = fixture.way(line(isOwn))
  const hold = new LedgerHold(fixture.clock, way, fenceHold)
  return {
    way,
    isOwn,
    async act({ does, scope }) {
      const wanted: Fence = { cluster, node: 'n', machine: 'm', scope, bootID: '', sinceMs: 0, isOver: false }
      const id = fenceRequestId(wanted)
      if (does === 'release') {
        const all = ({ entries }: Ledger) => entries.map(({ requestId }) => requestId).filter(isOwn)
        return settle(hold.release(all, signal))
      }
      const { problems, failure } = await hold.hold([{ id, wanted }], signal)
      return hold.holds(id) && problems.length === 0 && failure === undefined ? id : undefined
    },
  }
}

async function settle(work: Promise<{ readonly failure?: { readonly object: string } }>): Promise<undefined> {
  const { failure } = await work
  if (failure !== undefined) expect(failure.object).toBe('disruptionledger/cluster')
}

it('whatever others do to the ledger between any two writes: nothing opens that is not held, nobody loses what is not theirs, and no write leaves two that conflict', async () => {
  await fc.assert(fc.asyncProperty(fc.array(anyAct, { minLength: 3, maxLength: 10 }), play), { numRuns: runsOf(60) })
})
