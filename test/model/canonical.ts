import type { DisruptionRecord } from '@cofferdam/product/capabilities/drain-lock/domain/snapshot.ts'
import type { Ledger, LedgerEntry } from '@cofferdam/product/ledger/rules/ledger.ts'
import type { Place } from '@cofferdam/product/ledger/rules/queue.ts'
import type { Bounds } from './bounds.ts'
import { epochBit, mostEpochs, type Pooled } from './pool.ts'
import {
  type Drainer,
  type ModelState,
  type ModelStep,
  noLimit,
  type Pods,
  type Pools,
  type Work,
  type World,
} from './state.ts'

/**
 * One state for all that differ in nothing that matters.
 *
 * Epochs and tickets are only ever compared, so those that are left are counted from 1 anew. The two requests with their
 * nodes and pods may change places, where the bounds treat them alike: no decision looks at a name but to tell it from
 * another. The two budgets may not: they are locked in the order of their names.
 */
export function createCanonical(pools: Pools, bounds: Bounds): (state: ModelState) => ModelState {
  const renaming = createRenaming(pools, bounds)
  const swap = createSwap(pools)
  const isAlike = areDrainersAlike(bounds)
  return (state) => {
    const renamed = renaming(state)
    if (!isAlike) return renamed
    return swap(renamed)
  }
}

function areDrainersAlike({ stays: { a, b }, drainers, crashes, isCordonedBefore }: Bounds): boolean {
  return drainers === 2 && a[0] === a[1] && b[0] === b[1] && crashes[0] === crashes[1] && !isCordonedBefore
}

function createRenaming(pools: Pools, { ledgerLoss }: Bounds): (state: ModelState) => ModelState {
  const memos = {
    l: new Map<number, Pooled<unknown>>(),
    d: new Map<number, Pooled<unknown>>(),
    b: new Map<number, Pooled<unknown>>(),
  }
  const remembered = <T>(kind: 'l' | 'd' | 'b', before: Pooled<T>, mask: number, make: () => Pooled<T>): Pooled<T> => {
    const memo = memos[kind]
    const key = before.id * 2 ** mostEpochs + mask
    let after = memo.get(key) as Pooled<T> | undefined
    if (after === undefined) {
      after = make()
      memo.set(key, after)
    }
    return after
  }
  return (state) => {
    const { ledger, drainers, budgets, pods, world } = state
    const { backup } = world.value
    // A ledger that is made anew begins with 1, so nothing else is counted so.
    const present =
      (ledgerLoss === 'wiped' ? 1 : 0) |
      ledger.epochs |
      drainers[0].epochs |
      drainers[1].epochs |
      budgets[0].epochs |
      budgets[1].epochs |
      world.epochs
    const mask = withNext(withNext(present, ledger.value.nextEpoch), backup?.value.nextEpoch)
    const rank = (epoch: number) => bitsIn(mask & ((1 << (epoch - 1)) - 1)) + 1
    const normal = (each: Pooled<Ledger>) =>
      remembered('l', each, mask, () => pools.ledgers.of(normalLedger(each.value, rank, rank(each.value.nextEpoch))))
    const counted = normal(ledger)
    if ((mask & (mask + 1)) === 0 && backup === undefined)
      return counted === ledger ? state : { ...state, ledger: counted }
    const drainer = (each: Pooled<Drainer>) =>
      each.epochs === 0
        ? each
        : remembered('d', each, mask, () => pools.drainers.of(renamedDrainer(pools, each.value, rank)))
    const budget = (each: (typeof budgets)[0]) =>
      each.epochs === 0
        ? each
        : remembered('b', each, mask, () => {
            const { hold } = each.value
            return pools.budgets.of({
              ...each.value,
              hold: hold === undefined ? undefined : { ...hold, epoch: rank(hold.epoch) },
            })
          })
    const { fencer } = world.value
    return {
      ledger: counted,
      drainers: [drainer(drainers[0]), drainer(drainers[1])],
      budgets: [budget(budgets[0]), budget(budgets[1])],
      pods,
      world:
        fencer.epoch === 0 && backup === undefined
          ? world
          : pools.worlds.of({
              ...world.value,
              fencer: fencer.epoch === 0 ? fencer : { ...fencer, epoch: rank(fencer.epoch) },
              backup: backup && normal(backup),
            }),
    }
  }
}

/** A ledger that is behind gives out epochs below some that are left: then its next one counts among them. */
function withNext(mask: number, next: number | undefined): number {
  return next !== undefined && mask >> (next - 1) !== 0 ? mask | epochBit(next) : mask
}

function bitsIn(mask: number): number {
  let bits = 0
  for (let left = mask; left !== 0; left &= left - 1) bits += 1
  return bits
}

function normalLedger(
  { entries, tickets, broken }: Ledger,
  rank: (epoch: number) => number,
  nextEpoch: number,
): Ledger {
  const placed = entries.flatMap(({ state, place }) => (state === 'Granted' && place !== undefined ? place.number : []))
  const numbers = [...new Set([...tickets.map(({ number }) => number), ...placed])].sort((a, b) => a - b)
  return {
    nextEpoch,
    nextTicket: numbers.length + 1,
    entries: entries
      .map((entry) => normalEntry(entry, rank, numbers))
      .sort((one, other) => (`${one.requestId} ${one.key}` < `${other.requestId} ${other.key}` ? -1 : 1)),
    tickets: [...tickets]
      .sort((one, other) => one.number - other.number)
      .map((ticket) => ({ ...ticket, ...normalPlace(ticket, numbers) })),
    broken: normalBroken(broken),
    appLocks: [],
  }
}

/** When and how often it was does not matter. */
function normalBroken(broken: Ledger['broken']): Ledger['broken'] {
  if (broken.length === 0) return broken
  const byText = new Map(broken.map((each) => [`${each.key} ${each.formerHolder}`, each]))
  return [...byText].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each)
}

/** What led to the grant counts no more once something was done under it. */
function normalEntry(entry: LedgerEntry, rank: (epoch: number) => number, numbers: readonly number[]): LedgerEntry {
  const { place, ...rest } = entry
  const kept = { ...rest, epoch: rank(entry.epoch), renewSequence: 0 }
  return place === undefined || entry.state !== 'Granted' ? kept : { ...kept, place: normalPlace(place, numbers) }
}

/** Numbers are only ever compared, and to be passed once counts as often. */
function normalPlace({ number, overtaken = 0 }: Place, numbers: readonly number[]): Place {
  const counted = { number: numbers.indexOf(number) + 1 }
  return overtaken === 0 ? counted : { ...counted, overtaken: 1 }
}

function renamedDrainer(pools: Pools, drainer: Drainer, rank: (epoch: number) => number): Drainer {
  const limit = (upTo: number) => (upTo === 0 || upTo === noLimit ? upTo : rank(upTo))
  const record = (value: DisruptionRecord): DisruptionRecord =>
    value.epoch === undefined ? value : { ...value, epoch: rank(value.epoch) }
  const step = (value: ModelStep): ModelStep => {
    if (value.step === 'record' || value.step === 'close') return { ...value, record: record(value.record) }
    if (value.step === 'reserve') return { ...value, of: { ...value.of, epoch: rank(value.of.epoch) } }
    if (value.step === 'unlock') return { ...value, upTo: limit(value.upTo) }
    if (value.step === 'unmark') return { ...value, of: { ...value.of, upTo: limit(value.of.upTo) } }
    return 'epoch' in value ? { ...value, epoch: rank(value.epoch) } : value
  }
  return mapDrainer(pools, drainer, record, step)
}

function mapDrainer(
  pools: Pools,
  { record, work, old, process, isDown }: Drainer,
  ofRecord: (record: DisruptionRecord) => DisruptionRecord,
  ofStep: (step: ModelStep) => ModelStep,
): Drainer {
  const map = (each: Work): Work => ({ ...each, steps: each.steps.map(({ value }) => pools.steps.of(ofStep(value))) })
  return {
    record: pools.records.of(ofRecord(record.value)),
    work: map(work),
    old: old === undefined ? undefined : map(old),
    process,
    isDown,
  }
}

function createSwap(pools: Pools): (state: ModelState) => ModelState {
  const memos: Pooled<unknown>[][] = [[], [], [], [], []]
  const remembered = <T>(kind: number, before: Pooled<T>, make: (value: T) => Pooled<T>): Pooled<T> => {
    const memo = memos[kind] as Pooled<T>[]
    const after = memo[before.id] ?? make(before.value)
    memo[before.id] = after
    return after
  }
  const drainer = (before: Pooled<Drainer>) =>
    remembered(1, before, (value) => pools.drainers.of(mapDrainer(pools, value, swapNames, swapNames)))
  /** The one of the two that comes first, by the numbers of their parts. */
  return (state) => {
    const { drainers, budgets } = state
    const first = drainer(drainers[1])
    if (first.id > drainers[0].id) return state
    const ledger = remembered(0, state.ledger, (value) => pools.ledgers.of(swapLedger(value)))
    const world = remembered(4, state.world, (value) => pools.worlds.of(swapWorld(pools, value)))
    const pods = remembered(3, state.pods, ([a0, a1, b0, b1]) => pools.pods.of([a1, a0, b1, b0] satisfies Pods))
    const [a, b] = [swapBudget(budgets[0]), swapBudget(budgets[1])]
    const difference =
      first.id - drainers[0].id ||
      ledger.id - state.ledger.id ||
      world.id - state.world.id ||
      pods.id - state.pods.id ||
      a.id - budgets[0].id ||
      b.id - budgets[1].id
    return difference < 0 ? { ledger, drainers: [first, drainer(drainers[0])], budgets: [a, b], pods, world } : state
  }

  function swapBudget(before: ModelState['budgets'][0]): ModelState['budgets'][0] {
    return remembered(2, before, (value) => {
      const { disrupted, hold } = value
      const moved = hold === undefined ? undefined : { ...hold, requestId: swapText(hold.requestId) }
      return pools.budgets.of({ ...value, disrupted: [disrupted[1], disrupted[0]], hold: moved })
    })
  }
}

function swapLedger(ledger: Ledger): Ledger {
  const { entries, tickets, broken, nextEpoch } = swapNames(ledger)
  return normalLedger({ ...ledger, entries, tickets, broken }, (epoch) => epoch, nextEpoch)
}

function swapWorld(pools: Pools, world: World): World {
  const [first, second, third] = world.nodes
  const [one, other, fencer] = world.crashesLeft
  const moved = (node: typeof first) => ({ ...node, cordonedBy: swapText(node.cordonedBy) })
  const { fates, backup } = world
  return {
    ...world,
    nodes: [moved(second), moved(first), third],
    crashesLeft: [other, one, fencer],
    fates: [swapNames(fates[1]), swapNames(fates[0])],
    backup: backup && pools.ledgers.of(swapLedger(backup.value)),
  }
}

function swapText(text: string): string {
  return text.replace(/\b(node|R|a|b)-([01])/g, (_, kind: string, index: string) => `${kind}-${1 - Number(index)}`)
}

/** In a value that JSON can hold; what is undefined stays so. */
function swapNames<T>(value: T): T {
  if (typeof value === 'string') return swapText(value) as T
  if (Array.isArray(value)) return value.map(swapNames) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, swapNames(each)])) as T
}
