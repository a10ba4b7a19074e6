import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { defaultSettings } from '../../../../safety/ceph-settings.ts'
import { known } from '../../../../shared/observed.ts'
import type { OsdView } from '../../../../shared/parse-osd.ts'
import type { DaemonBudget } from '../daemon-budgets.ts'
import { decideCephDrain } from '../decide.ts'
import { type BudgetStep, planOsdBudgets } from '../osd-budgets.ts'
import type { CephDrainSnapshot, DaemonView, OsdBudget } from '../snapshot.ts'
import { calmState, type DrainState } from '../state-map.ts'
import { decideStaticBudgets } from '../static-budgets.ts'
import { isAhead, narrowTurn, type StorageTurn } from '../storage-turn.ts'
import { coverOf } from '../wanted-budgets.ts'
import { applyStep, nowMs } from './fixture.ts'

/** A cluster in which every node is a failure domain of its own, with some OSDs, a mon, or both; and some nodes are drained. */
export interface ModelSetup {
  readonly nodes: readonly { readonly name: string; readonly osds: readonly number[]; readonly mon?: string }[]
  readonly drained: readonly string[]
  /** Drains that somebody may give up once, and begin anew. */
  readonly givenUp?: readonly string[]
  /** Mons as they were held before: by their number alone. */
  readonly byNumberAlone?: boolean
}

/** Everything that there is at one moment. Plain data: two moments are the same when their JSON is. */
export interface ModelState {
  readonly downOsds: readonly number[]
  /** Back, and not whole yet. */
  readonly staleOsds: readonly number[]
  readonly downMons: readonly string[]
  readonly drains: Readonly<Record<string, 'begun' | 'given back'>>
  /** Of those that may be given up: which were. */
  readonly hasGivenUp: readonly string[]
  readonly budgets: readonly OsdBudget[]
  readonly monBudget: Pick<DaemonBudget, 'maxUnavailable' | 'exempt'> | undefined
  readonly record: DrainState
  readonly turn: StorageTurn | undefined
  readonly loose: readonly string[] | undefined
  readonly memory: DaemonBudget['memory']
  /** What ceph-drain decided from a look that may be old by now. */
  readonly decided: Decided | undefined
  /** Who works on the budgets, and what is left to write. */
  readonly writing:
    | { readonly who: 'ceph-drain'; readonly steps: readonly BudgetStep[]; readonly turn: StorageTurn | undefined }
    | { readonly who: 'static'; readonly budget: DaemonBudget }
    | undefined
}

interface Decided {
  readonly steps: readonly BudgetStep[]
  readonly turn: StorageTurn
  readonly record: DrainState
  readonly isEarly: boolean
}

export interface ModelMove {
  readonly name: string
  readonly next: ModelState
  /** What the move broke: a placement group below its floor, the quorum. */
  readonly harm?: string
}

export const firstState: ModelState = {
  downOsds: [],
  staleOsds: [],
  downMons: [],
  drains: {},
  hasGivenUp: [],
  budgets: [],
  monBudget: undefined,
  record: calmState,
  turn: undefined,
  loose: undefined,
  memory: undefined,
  decided: undefined,
  writing: undefined,
}

export function isOver(setup: ModelSetup, { drains }: ModelState): boolean {
  return setup.drained.every((node) => drains[node] === 'given back')
}

/** All that can happen next: by drains, by the API server's leave, by either controller of the operator, by Ceph. */
export function movesFrom(setup: ModelSetup, state: ModelState): ModelMove[] {
  return [...drainMoves(setup, state), ...operatorMoves(setup, state), ...cephMoves(state)]
}

function drainMoves(setup: ModelSetup, state: ModelState): ModelMove[] {
  return setup.drained.flatMap((name): ModelMove[] => {
    const node = setup.nodes.find((each) => each.name === name) as ModelSetup['nodes'][number]
    const phase = state.drains[name]
    if (phase === 'given back') return []
    if (phase === undefined) {
      const isGuarded = state.budgets.length > 0 && state.monBudget !== undefined
      return isGuarded
        ? [{ name: `cordon ${name}`, next: { ...state, drains: { ...state.drains, [name]: 'begun' } } }]
        : []
    }
    const osds = node.osds.filter((id) => !state.downOsds.includes(id))
    const mons = monsOf({ nodes: [node] }).filter((id) => !state.downMons.includes(id))
    // A reboot takes longer than a look, and so does the start of an OSD.
    const isSeen = state.decided === undefined && look(setup, state) === undefined
    if (osds.length + mons.length === 0) return isSeen ? [giveBack(state, node)] : []
    const mayGiveUp = isSeen && setup.givenUp?.includes(name) === true && !state.hasGivenUp.includes(name)
    return [
      ...(mayGiveUp ? [giveUp(state, node)] : []),
      ...osds.filter((id) => mayEvictOsd(setup, state, id)).map((id) => evictOsd(setup, state, id)),
      ...mons.filter((id) => mayEvictMon(state, id)).map((id) => evictMon(setup, state, id)),
    ]
  })
}

function giveBack(state: ModelState, { name, osds, mon }: ModelSetup['nodes'][number]): ModelMove {
  return {
    name: `${name} is given back`,
    next: {
      ...state,
      drains: { ...state.drains, [name]: 'given back' },
      downOsds: state.downOsds.filter((id) => !osds.includes(id)),
      staleOsds: [...state.staleOsds, ...osds].sort((a, b) => a - b),
      downMons: state.downMons.filter((id) => id !== mon),
    },
  }
}

function giveUp(state: ModelState, node: ModelSetup['nodes'][number]): ModelMove {
  const { [node.name]: _, ...drains } = state.drains
  const { next } = giveBack(state, node)
  const staleOsds = next.staleOsds.filter((id) => state.downOsds.includes(id) || state.staleOsds.includes(id))
  const hasGivenUp = [...state.hasGivenUp, node.name].sort()
  return { name: `the drain of ${node.name} is given up`, next: { ...next, drains, staleOsds, hasGivenUp } }
}

/** As the Eviction API says it, with every pod counted as it is. */
function mayEvictOsd(setup: ModelSetup, { budgets, downOsds }: ModelState, id: number): boolean {
  const asOsd = (osd: number) => ({ id: osd, topology: { host: nodeOf(setup, osd) } })
  const [budget, ...more] = budgets.filter((each) => coverOf([each])(asOsd(id)))
  if (budget === undefined) return true
  if (more.length > 0) return false
  return downOsds.map(asOsd).filter(coverOf([budget])).length < budget.maxUnavailable
}

function mayEvictMon({ monBudget, downMons }: ModelState, id: string): boolean {
  if (monBudget === undefined || monBudget.exempt.includes(id)) return true
  return downMons.filter((mon) => !monBudget.exempt.includes(mon)).length < monBudget.maxUnavailable
}

function evictOsd(setup: ModelSetup, state: ModelState, id: number): ModelMove {
  const node = nodeOf(setup, id)
  const elsewhere = [...state.downOsds, ...state.staleOsds].filter((osd) => nodeOf(setup, osd) !== node)
  const staleOsds = state.staleOsds.filter((osd) => osd !== id)
  return {
    name: `osd.${id} leaves ${node}`,
    next: { ...state, staleOsds, downOsds: [...state.downOsds, id].sort((a, b) => a - b) },
    ...(elsewhere.length === 0
      ? {}
      : { harm: `osd.${id} left while osd.${elsewhere.join(', osd.')} had no whole copy` }),
  }
}

function evictMon(setup: ModelSetup, state: ModelState, id: string): ModelMove {
  const downMons = [...state.downMons, id].sort()
  return {
    name: `mon.${id} leaves`,
    next: { ...state, downMons },
    ...(2 * downMons.length >= monsOf(setup).length
      ? { harm: `mon.${downMons.join(', mon.')} were away together` }
      : {}),
  }
}

function cephMoves(state: ModelState): ModelMove[] {
  if (state.staleOsds.length === 0) return []
  return [{ name: 'Ceph recovers', next: { ...state, staleOsds: [] } }]
}

function operatorMoves(setup: ModelSetup, state: ModelState): ModelMove[] {
  const { writing, decided } = state
  const moves: ModelMove[] = []
  // It does one thing after the other; what it looks at may change at any time after.
  if (decided === undefined && writing?.who !== 'ceph-drain') {
    const looked = look(setup, state)
    if (looked !== undefined) moves.push({ name: 'ceph-drain looks', next: { ...state, decided: looked } })
  }
  if (writing?.who === 'ceph-drain') moves.push(writeStep(state, writing))
  if (writing?.who === 'static') moves.push(writeMonBudget(state, writing.budget))
  if (writing !== undefined) return moves
  if (decided !== undefined) moves.push(beginWriting(setup, state, decided))
  const budget = decideMons(setup, state)
  if (isRelevant(state, budget)) {
    moves.push({ name: 'ceph-static-budgets decides', next: { ...state, writing: { who: 'static', budget } } })
  }
  // Nobody is so slow that what happened before is still unseen.
  if (state.memory !== undefined && decided === undefined) {
    moves.push({ name: 'some seconds pass', next: { ...state, memory: undefined } })
  }
  return moves
}

/** Undefined when there would be nothing new. */
function look(setup: ModelSetup, state: ModelState): Decided | undefined {
  const { budgets, turn, state: record } = decideCephDrain(snapshotOf(setup, state))
  const steps = planOsdBudgets(state.budgets, budgets)
  const isEarly =
    state.budgets.length > 0 && isAhead({ turn: state.turn, looseNodes: state.loose }, turn as StorageTurn)
  const decided = {
    steps,
    isEarly,
    turn: turn as StorageTurn,
    record: { ...record, lastUncleanAt: undefined, nooutSince: {} },
  }
  const isSame = steps.length === 0 && same(decided.turn, state.turn) && same(decided.record, state.record)
  return isSame ? undefined : decided
}

function beginWriting(setup: ModelSetup, state: ModelState, { steps, turn, record, isEarly }: Decided): ModelMove {
  const common = { ...state, decided: undefined, record }
  if (setup.byNumberAlone === true) {
    return {
      name: 'ceph-drain writes',
      next: { ...common, turn, writing: { who: 'ceph-drain', steps, turn: undefined } },
    }
  }
  const left = isEarly ? steps.filter((step) => step.action === 'apply' && isNewBlock(state, step)) : steps
  return {
    name: isEarly ? 'ceph-drain writes, and loosens nothing yet' : 'ceph-drain writes',
    next: {
      ...common,
      turn: narrowTurn(state.turn, turn),
      writing: { who: 'ceph-drain', steps: left, turn: isEarly ? undefined : turn },
    },
  }
}

function isNewBlock({ budgets }: ModelState, { budget }: Extract<BudgetStep, { action: 'apply' }>): boolean {
  return budget.maxUnavailable === 0 && !budgets.some(({ name }) => name === budget.name)
}

function writeStep(
  state: ModelState,
  { steps, turn }: Extract<ModelState['writing'], { who: 'ceph-drain' }>,
): ModelMove {
  const [step, ...left] = steps
  if (step === undefined) {
    return { name: 'ceph-drain is done', next: { ...state, writing: undefined, turn: turn ?? state.turn } }
  }
  const name = step.action === 'apply' ? `apply ${step.budget.name}` : `delete ${step.name}`
  const budgets = applyStep(state.budgets, step).sort((a, b) => (a.name < b.name ? -1 : 1))
  return { name, next: { ...state, budgets, writing: { who: 'ceph-drain', steps: left, turn } } }
}

function writeMonBudget(state: ModelState, { maxUnavailable, exempt, loose, memory }: DaemonBudget): ModelMove {
  return {
    name: `mon budget: ${maxUnavailable} without [${exempt.join()}]`,
    next: {
      ...state,
      monBudget: { maxUnavailable, exempt },
      loose: loose === undefined ? state.loose : [...loose].sort(),
      memory,
      writing: undefined,
    },
  }
}

function isRelevant({ monBudget, loose, memory }: ModelState, next: DaemonBudget): boolean {
  const isLoose = next.loose !== undefined && !same([...next.loose].sort(), loose)
  const isSame = monBudget?.maxUnavailable === next.maxUnavailable && same(monBudget.exempt, next.exempt)
  return !isSame || isLoose || !same(memory, next.memory)
}

function decideMons(setup: ModelSetup, state: ModelState): DaemonBudget {
  const mons = monsOf(setup)
  const { daemonBudgets } = decideStaticBudgets({
    cluster: { namespace: 'rook-ceph', mode: 'manage' },
    monCount: mons.length,
    mgrCount: 1,
    quorum: known({ mons: mons.length, inQuorum: mons.length - state.downMons.length, out: state.downMons }),
    isSilenceBrief: true,
    filesystems: [],
    objectStores: [],
    rbdMirrors: [],
    nvmeof: [],
    filesystemMirrors: [],
    nfs: [],
    existing: state.monBudget === undefined ? [] : [asObject(state.monBudget)],
    ...(setup.byNumberAlone === true
      ? {}
      : {
          beside: {
            daemons: daemonsOf(setup, state),
            turn: state.turn,
            leavingNodes: new Set(setup.nodes.map(({ name }) => name).filter((name) => state.drains[name] === 'begun')),
            nowMs,
            memory: state.memory === undefined ? {} : { mon: state.memory },
          },
        }),
  })
  return daemonBudgets.mon as DaemonBudget
}

function asObject({ maxUnavailable, exempt }: NonNullable<ModelState['monBudget']>): PodDisruptionBudget {
  const left = exempt.length === 0 ? [] : [{ key: 'ceph_daemon_id', operator: 'NotIn' as const, values: exempt }]
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'rook-ceph-mon-pdb', namespace: 'rook-ceph' },
    spec: { maxUnavailable, selector: { matchLabels: { app: 'rook-ceph-mon' }, matchExpressions: left } },
  }
}

function daemonsOf({ nodes }: ModelSetup, { downMons }: ModelState): DaemonView[] {
  return nodes.flatMap(({ name, mon }): DaemonView[] =>
    mon === undefined
      ? []
      : [{ type: 'mon', id: mon, nodeName: name, isPinned: true, isReady: !downMons.includes(mon) }],
  )
}

function monsOf({ nodes }: Pick<ModelSetup, 'nodes'>): string[] {
  return nodes.flatMap(({ mon }) => (mon === undefined ? [] : [mon]))
}

/** Every placement group has a copy on each node, and needs two of them. */
function snapshotOf(setup: ModelSetup, state: ModelState): CephDrainSnapshot {
  const { nodes } = setup
  const osds = nodes.flatMap((node) => node.osds)
  const poor = [...state.downOsds, ...state.staleOsds]
  return {
    nowMs,
    cluster: { namespace: 'rook-ceph', name: 'c', uid: 'u', mode: 'manage', settings: defaultSettings },
    osds: osds.map((id): OsdView => {
      const host = nodeOf(setup, id)
      const isReady = !state.downOsds.includes(id)
      return { id, isReady, isBeingReplaced: false, nodeName: known(host), topology: { host }, hasPodOnNode: isReady }
    }),
    nodes: nodes.map(({ name }) => ({ name, isCordoned: state.drains[name] === 'begun' })),
    ceph: known({
      epoch: 1,
      upOsds: osds.filter((id) => !state.downOsds.includes(id)),
      pgs: poor.length === 0 ? { health: 'clean' } : { health: 'unclean', dirtyStates: { 'active+undersized': 1 } },
      failureDomainType: 'host',
      domains: nodes
        .filter((node) => node.osds.length > 0)
        .map((node) => ({
          domain: node.name,
          osds: node.osds,
          verdict: poor.every((id) => node.osds.includes(id))
            ? { may: 'yes' }
            : { may: 'no', troubles: [], troubleCount: 1 },
        })),
      nooutBuckets: [],
      disagreements: [],
    }),
    cephSilentMs: 0,
    state: state.record,
    budgets: state.budgets,
    daemons: daemonsOf(setup, state),
  }
}

function nodeOf({ nodes }: ModelSetup, osd: number): string {
  return nodes.find(({ osds }) => osds.includes(osd))?.name ?? ''
}

function same(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}
