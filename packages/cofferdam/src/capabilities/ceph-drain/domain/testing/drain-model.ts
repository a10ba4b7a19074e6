import { defaultSettings } from '../../../../safety/ceph-settings.ts'
import { known } from '../../../../shared/observed.ts'
import type { OsdView } from '../../../../shared/parse-osd.ts'
import type { DaemonBudget } from '../daemon-budgets.ts'
import { decideCephDrain } from '../decide.ts'
import { planOsdBudgets } from '../osd-budgets.ts'
import { planTightening } from '../plan-tightening.ts'
import type { CephDrainSnapshot } from '../snapshot.ts'
import { calmState } from '../state-map.ts'
import { isAhead, narrowTurn, type StorageTurn } from '../storage-turn.ts'
import { coverOf } from '../wanted-budgets.ts'
import { daemonNamesOf, daemonsOf, decideDaemons, idsOf, kindsOf, partsOf, serversOf } from './drain-model-daemons.ts'
import type { DaemonBudgets, Decided, Kind, ModelNode, ModelSetup, ModelState } from './drain-model-state.ts'
import { applyStep, nowMs } from './fixture.ts'

export interface ModelMove {
  readonly name: string
  readonly next: ModelState
  /** What the move broke: a placement group below its floor, the quorum. */
  readonly harm?: string
}

export const firstState: ModelState = {
  downOsds: [],
  staleOsds: [],
  downDaemons: [],
  drains: {},
  hasGivenUp: [],
  budgets: [],
  daemonBudgets: {},
  record: calmState,
  turn: undefined,
  loose: undefined,
  memory: {},
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
    const node = setup.nodes.find((each) => each.name === name) as ModelNode
    const phase = state.drains[name]
    if (phase === 'given back') return []
    if (phase === undefined) {
      const isGuarded =
        state.budgets.length > 0 && kindsOf(setup).every((kind) => state.daemonBudgets[kind] !== undefined)
      return isGuarded
        ? [{ name: `cordon ${name}`, next: { ...state, drains: { ...state.drains, [name]: 'begun' } } }]
        : []
    }
    const osds = node.osds.filter((id) => !state.downOsds.includes(id))
    const daemons = daemonNamesOf([node]).filter((daemon) => !state.downDaemons.includes(daemon))
    // A reboot takes longer than a look, and so does the start of an OSD.
    const isSeen = state.decided === undefined && look(setup, state) === undefined
    if (osds.length + daemons.length === 0) return isSeen ? [giveBack(state, node)] : []
    const mayGiveUp = isSeen && setup.givenUp?.includes(name) === true && !state.hasGivenUp.includes(name)
    return [
      ...(mayGiveUp ? [giveUp(state, node)] : []),
      ...osds.filter((id) => mayEvictOsd(setup, state, id)).map((id) => evictOsd(setup, state, id)),
      ...daemons.filter((each) => mayEvictDaemon(setup, state, each)).map((each) => evictDaemon(setup, state, each)),
    ]
  })
}

function giveBack(state: ModelState, node: ModelNode): ModelMove {
  const { name, osds } = node
  const daemons = daemonNamesOf([node])
  return {
    name: `${name} is given back`,
    next: {
      ...state,
      drains: { ...state.drains, [name]: 'given back' },
      downOsds: state.downOsds.filter((id) => !osds.includes(id)),
      staleOsds: [...state.staleOsds, ...osds].sort((a, b) => a - b),
      downDaemons: state.downDaemons.filter((daemon) => !daemons.includes(daemon)),
    },
  }
}

function giveUp(state: ModelState, node: ModelNode): ModelMove {
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

function mayEvictDaemon(setup: ModelSetup, { daemonBudgets, downDaemons }: ModelState, daemon: string): boolean {
  const [kind, id] = partsOf(daemon)
  const budget = daemonBudgets[kind]
  if (budget === undefined || budget.exempt.includes(id)) return true
  const covered = idsOf(setup, kind).filter((each) => !budget.exempt.includes(each))
  const away = covered.filter((each) => downDaemons.includes(`${kind}.${each}`)).length
  // A service by number says how many must stay: all but one.
  const most = kind === 'server' && !budget.isFollowing ? 1 : budget.maxUnavailable
  return away < most
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

function evictDaemon(setup: ModelSetup, state: ModelState, daemon: string): ModelMove {
  const downDaemons = [...state.downDaemons, daemon].sort()
  const [kind] = partsOf(daemon)
  const away = downDaemons.filter((each) => each.startsWith(`${kind}.`))
  const isTooMuch = kind === 'mon' ? 2 * away.length >= idsOf(setup, kind).length : away.length > 1
  return {
    name: `${daemon} leaves`,
    next: { ...state, downDaemons },
    ...(isTooMuch ? { harm: `${away.join(', ')} were away together` } : {}),
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
  if (writing?.who === 'static') moves.push(writeDaemonBudget(state, writing))
  if (writing !== undefined) return moves
  if (decided !== undefined) moves.push(beginWriting(setup, state, decided))
  const all = decideDaemons(setup, state)
  if (isRelevant(state, all)) {
    const writes = { who: 'static' as const, all, left: kindsOf(setup) }
    moves.push({ name: 'ceph-static-budgets decides', next: { ...state, writing: writes } })
  }
  // Nobody is so slow that what happened before is still unseen.
  if (Object.keys(state.memory).length > 0 && decided === undefined) {
    moves.push({ name: 'some seconds pass', next: { ...state, memory: {} } })
  }
  return moves
}

/** Undefined when there would be nothing new. */
function look(setup: ModelSetup, state: ModelState): Decided | undefined {
  const snapshot = snapshotOf(setup, state)
  const { budgets, turn, state: record } = decideCephDrain(snapshot)
  const steps = planOsdBudgets(state.budgets, budgets)
  const isEarly =
    state.budgets.length > 0 && isAhead({ turn: state.turn, looseNodes: state.loose }, turn as StorageTurn)
  const decided = {
    steps,
    tightening: planTightening(snapshot, budgets),
    isEarly,
    turn: turn as StorageTurn,
    record: { ...record, lastUncleanAt: undefined, nooutSince: {} },
  }
  const isSame = steps.length === 0 && same(decided.turn, state.turn) && same(decided.record, state.record)
  return isSame ? undefined : decided
}

function beginWriting(
  setup: ModelSetup,
  state: ModelState,
  { steps, tightening, turn, record, isEarly }: Decided,
): ModelMove {
  const common = { ...state, decided: undefined, record }
  if (setup.byNumberAlone === true) {
    return {
      name: 'ceph-drain writes',
      next: { ...common, turn, writing: { who: 'ceph-drain', steps, turn: undefined } },
    }
  }
  const left = isEarly ? tightening : steps
  return {
    name: isEarly ? 'ceph-drain writes, and loosens nothing yet' : 'ceph-drain writes',
    next: {
      ...common,
      turn: narrowTurn(state.turn, turn),
      writing: { who: 'ceph-drain', steps: left, turn: isEarly ? undefined : turn },
    },
  }
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

/** One after the other; what may go counts when all are written. */
function writeDaemonBudget(
  state: ModelState,
  { all, left }: Extract<ModelState['writing'], { who: 'static' }>,
): ModelMove {
  const [kind, ...more] = left
  if (kind === undefined) throw new Error('nothing is left to write')
  const { maxUnavailable, isFollowing, exempt } = all[kind] as DaemonBudget
  const daemonBudgets = { ...state.daemonBudgets, [kind]: { maxUnavailable, isFollowing, exempt } }
  const name = `${kind} budget: ${maxUnavailable} without [${exempt.join()}]`
  if (more.length > 0) return { name, next: { ...state, daemonBudgets, writing: { who: 'static', all, left: more } } }
  const loose = looseOf(all)
  return {
    name,
    next: { ...state, daemonBudgets, loose: loose ?? state.loose, memory: memoryOf(all), writing: undefined },
  }
}

function looseOf(all: DaemonBudgets): readonly string[] | undefined {
  const loose = Object.values(all).map((budget) => budget.loose)
  return loose.includes(undefined) ? undefined : [...new Set(loose.flatMap((nodes) => nodes ?? []))].sort()
}

function memoryOf(all: DaemonBudgets): ModelState['memory'] {
  return Object.fromEntries(
    Object.entries(all).flatMap(([kind, { memory }]) => (memory === undefined ? [] : [[kind, memory]])),
  )
}

function isRelevant({ daemonBudgets, loose, memory }: ModelState, next: DaemonBudgets): boolean {
  const nextLoose = looseOf(next)
  const isSame = Object.entries(next).every(([kind, { maxUnavailable, isFollowing, exempt }]) =>
    same(daemonBudgets[kind as Kind], { maxUnavailable, isFollowing, exempt }),
  )
  return !isSame || (nextLoose !== undefined && !same(nextLoose, loose)) || !same(memory, memoryOf(next))
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
    nodes: nodes.map(({ name }) => ({ name, isClosed: state.drains[name] === 'begun' })),
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
    services: setup.serversByNumber === true ? [] : serversOf(setup, state),
  }
}

function nodeOf({ nodes }: ModelSetup, osd: number): string {
  return nodes.find(({ osds }) => osds.includes(osd))?.name ?? ''
}

function same(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}
