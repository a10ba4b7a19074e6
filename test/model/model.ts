import type { BudgetFacts, DisruptionRecord } from '@cofferdam/product/capabilities/drain-lock/domain/snapshot.ts'
import type { Ledger } from '@cofferdam/product/ledger/rules/ledger.ts'
import type { RecalledLedger } from '@cofferdam/product/ledger/rules/lost-holds.ts'
import type { Bounds, DrainerIndex, Parts } from './bounds.ts'
import { createPool, type Pool, type Pooled } from './pool.ts'
import type { Patch } from './replay.ts'
import type { Budget, Drainer, Fate, ModelNode, ModelState, Pod, Pools, Work, World } from './state.ts'

/** What can happen next. */
export interface Transition {
  readonly label: () => string
  readonly next: ModelState
  /** A fault: nothing may depend on its happening. */
  readonly isFault: boolean
  /** What went wrong in happening, by the name of the invariant. */
  readonly violation: string | undefined
}

export type Emit = (
  label: () => string,
  next: ModelState,
  told?: { readonly isFault?: boolean; readonly violation?: string | undefined },
) => void

export interface Model {
  readonly bounds: Bounds
  readonly parts: Parts
  readonly pools: Pools
  /** What each look decided: many states look the same to one process. */
  readonly decided: Map<number, Map<number, DecidedWork>>
  readonly last: readonly [LastDecided, LastDecided]
  /** What a process sees of the pods and of the world, by request and number. */
  readonly seen: {
    readonly pods: readonly [number[], number[]]
    readonly worlds: readonly [number[], number[]]
    readonly views: Pool<string>
    readonly worldViews: Pool<string>
  }
  readonly replays: Map<string, Map<number, readonly Patch[]>>
  readonly admitted: Map<string, boolean>
  readonly recalled: Map<string, RecalledLedger>
  /** As they are after a tick, by number. */
  readonly aged: { readonly drainers: Pooled<Drainer>[]; readonly budgets: Pooled<Budget>[] }
  /** What is seen of a budget, by application and number. */
  readonly facts: readonly [BudgetFacts[], BudgetFacts[]]
  /** By application, then by budget and pods: the budget as it is counted. */
  readonly counted: readonly [Map<number, Pooled<Budget>>, Map<number, Pooled<Budget>>]
}

interface LastDecided {
  state: ModelState | undefined
  decided: DecidedWork | undefined
}

export interface DecidedWork {
  readonly work: Work
  /** Each drainer that decides so, by number, with that work. */
  readonly after: Map<number, Pooled<Drainer>>
  readonly violation: string | undefined
  readonly says: string
}

export function createModelOf(bounds: Bounds, parts: Parts, pools: Pools): Model {
  const nothing = () => ({ state: undefined, decided: undefined })
  return {
    bounds,
    parts,
    pools,
    decided: new Map(),
    last: [nothing(), nothing()],
    seen: {
      pods: [[], []],
      worlds: [[], []],
      views: createPool((text) => text),
      worldViews: createPool((text) => text),
    },
    replays: new Map(),
    admitted: new Map(),
    recalled: new Map(),
    aged: { drainers: [], budgets: [] },
    facts: [[], []],
    counted: [new Map(), new Map()],
  }
}

export function withLedger({ pools }: Model, state: ModelState, ledger: Ledger): ModelState {
  if (ledger === state.ledger.value) return state
  return { ...state, ledger: pools.ledgers.of(ledger) }
}

export function withDrainer(
  { pools }: Model,
  state: ModelState,
  index: DrainerIndex,
  change: Partial<Drainer>,
): ModelState {
  const drainer = pools.drainers.of(normal({ ...state.drainers[index].value, ...change }))
  const [first, second] = state.drainers
  return { ...state, drainers: index === 0 ? [drainer, second] : [first, drainer] }
}

/** Without what makes no difference any more. */
export function normal(drainer: Drainer): Drainer {
  const { work, old } = drainer
  const left = old === undefined || old.steps.length === 0 ? undefined : normalWork(old)
  return { ...drainer, work: normalWork(work), old: left }
}

function normalWork(work: Work): Work {
  if (!work.isOvertaken) return work
  const writes = work.steps.some(({ value: { step } }) => step === 'record' || step === 'close')
  return writes ? work : { ...work, isOvertaken: false }
}

export function withBudget({ pools }: Model, state: ModelState, app: 0 | 1, change: Partial<Budget>): ModelState {
  const budget = pools.budgets.of({ ...state.budgets[app].value, ...change })
  const [first, second] = state.budgets
  return { ...state, budgets: app === 0 ? [budget, second] : [first, budget] }
}

export function withPod({ pools }: Model, state: ModelState, index: number, change: Partial<Pod>): ModelState {
  const [a0, a1, b0, b1] = state.pods.value
  const put = (at: number, pod: Pod): Pod => (at === index ? { ...pod, ...change } : pod)
  return { ...state, pods: pools.pods.of([put(0, a0), put(1, a1), put(2, b0), put(3, b1)]) }
}

export function withWorld({ pools }: Model, state: ModelState, change: Partial<World>): ModelState {
  return { ...state, world: pools.worlds.of({ ...state.world.value, ...change }) }
}

export function withNode(
  model: Model,
  state: ModelState,
  index: number,
  change: Partial<ModelNode>,
  more: Partial<World> = {},
): ModelState {
  const [first, second, third] = state.world.value.nodes
  const put = (at: number, node: ModelNode): ModelNode => (at === index ? { ...node, ...change } : node)
  return withWorld(model, state, { nodes: [put(0, first), put(1, second), put(2, third)], ...more })
}

export function withFate(
  model: Model,
  state: ModelState,
  index: DrainerIndex,
  change: Partial<Fate>,
  more: Partial<World> = {},
): ModelState {
  const [first, second] = state.world.value.fates
  const put = (at: number, fate: Fate): Fate => (at === index ? { ...fate, ...change } : fate)
  return withWorld(model, state, { fates: [put(0, first), put(1, second)], ...more })
}

export function recordOf(model: Model, record: DisruptionRecord): Pooled<DisruptionRecord> {
  return model.pools.records.of(record)
}
