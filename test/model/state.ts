import type { DisruptionStep } from '@cofferdam/product/capabilities/drain-lock/domain/decision.ts'
import type { DisruptionRecord } from '@cofferdam/product/capabilities/drain-lock/domain/snapshot.ts'
import type { Ledger } from '@cofferdam/product/ledger/rules/ledger.ts'
import { createPool, epochBit, type Pool, type Pooled } from './pool.ts'

/**
 * What is done to the API server one request at a time. `reserve` and `unmark` are the second halves of `lock` and `unlock`,
 * `close` writes the record when the round is over.
 */
export type ModelStep =
  | Exclude<DisruptionStep, { readonly step: 'unlock' }>
  | Unlock
  | { readonly step: 'reserve'; readonly of: DisruptionStep & { readonly step: 'lock' } }
  | { readonly step: 'unmark'; readonly of: Unlock }
  | { readonly step: 'close'; readonly record: DisruptionRecord }

/** What a process that took over under an epoch above `upTo` has locked stays. */
export type Unlock = DisruptionStep & { readonly step: 'unlock'; readonly upTo: number }

/** Above every epoch. */
export const noLimit = 31

/** What one process has decided and not yet done. */
export interface Work {
  readonly steps: readonly Pooled<ModelStep>[]
  /** Somebody else has written the record since this process looked: its own write will be refused. */
  readonly isOvertaken: boolean
}

/** One NodeDisruption with the process that looks after it, and one that did so before and may wake up. */
export interface Drainer {
  readonly record: Pooled<DisruptionRecord>
  readonly work: Work
  readonly old: Work | undefined
  /** 0 before, 1 after the crash: each process has a name of its own. */
  readonly process: number
  /** The process that shall look after it has not started yet. */
  readonly isDown: boolean
}

export interface Budget {
  readonly allowed: number
  readonly healthy: number
  /** For the pod on node 0 and on node 1: ticks until its disruption is not counted any more. Negative: none is taken. */
  readonly disrupted: readonly [number, number]
  readonly hold: { readonly requestId: string; readonly epoch: number; readonly left: number } | undefined
  /** Ticks that the owner's lock lasts. */
  readonly ownerLeft: number
  /** How often it was made again. */
  readonly times: number
  /** The disruption controller has counted it since it was made. */
  readonly isCounted: boolean
}

/** Runs, does not run, is being deleted, is gone and not replaced, runs elsewhere. */
export type PodState = 'runs' | 'fails' | 'leaves' | 'missing' | 'elsewhere'

export interface Pod {
  readonly state: PodState
  /** An eviction of it has passed admission, and its budget has not been asked yet. */
  readonly isInFlight: boolean
}

export interface ModelNode {
  readonly isUp: boolean
  /** For whom; '' when it is open. */
  readonly cordonedBy: string
  readonly boots: number
  /** How often it was made again. */
  readonly times: number
  /** False: somebody deleted it. */
  readonly isThere: boolean
}

export type FencerAt = 'idle' | 'cordoned' | 'acting' | 'fenced' | 'done'

export interface Fencer {
  readonly at: FencerAt
  readonly epoch: number
  readonly isSilent: boolean
  /** Ticks for which its sign of life has been the same, as the keeper of the ledger has seen it. */
  readonly unchanged: number
}

/** `gone`: so is its object. */
export type Deletion = 'no' | 'asked' | 'gone'

/** `lost`: keys under which it acts are not in the ledger. `demoted`: the ledger says that it has not begun. */
export type Forgotten = 'no' | 'lost' | 'demoted'

/** What persons and accidents have done to one request. */
export interface Fate {
  readonly glass: 'off' | 'on' | 'past'
  /** What break-glass took from it after it had begun. */
  readonly broken: readonly string[]
  readonly deletion: Deletion
  readonly forgotten: Forgotten
  /** It has released its keys once. Remembered only where a ledger may be lost: elsewhere nothing brings them back. */
  readonly hasReleased: boolean
}

export interface World {
  readonly nodes: readonly [ModelNode, ModelNode, ModelNode]
  /** By failure domain: data is being put in place again. */
  readonly isDirty: readonly [boolean, boolean]
  /** 0: patient. 1: locks are not waited for any longer. 2: the deadline has passed. */
  readonly age: number
  readonly fencer: Fencer
  readonly ownerLocksLeft: number
  readonly evictionsLeft: number
  readonly crashesLeft: readonly [number, number, number]
  readonly fates: readonly [Fate, Fate]
  readonly glassesLeft: number
  readonly ledgerLossesLeft: number
  /** The ledger as it was at an earlier time. */
  readonly backup: Pooled<Ledger> | undefined
  readonly remadeNodesLeft: number
  readonly remadeBudgetsLeft: number
}

/** a-0, a-1, b-0, b-1 */
export type Pods = readonly [Pod, Pod, Pod, Pod]

export interface ModelState {
  readonly ledger: Pooled<Ledger>
  readonly drainers: readonly [Pooled<Drainer>, Pooled<Drainer>]
  readonly budgets: readonly [Pooled<Budget>, Pooled<Budget>]
  readonly pods: Pooled<Pods>
  readonly world: Pooled<World>
}

/** How many numbers make a state. */
export const width = 7

export interface Pools {
  readonly ledgers: Pool<Ledger>
  readonly records: Pool<DisruptionRecord>
  readonly steps: Pool<ModelStep>
  readonly drainers: Pool<Drainer>
  readonly budgets: Pool<Budget>
  readonly pods: Pool<Pods>
  readonly worlds: Pool<World>
}

export function createPools(): Pools {
  return {
    ledgers: createPool(ledgerKey, ({ entries }) => entries.reduce((bits, { epoch }) => bits | epochBit(epoch), 0)),
    records: createPool(recordKey, ({ epoch }) => epochBit(epoch)),
    steps: createPool(stepKey, stepEpochs),
    drainers: createPool(
      ({ record, work, old, process, isDown }) =>
        `${record.id}/${process}${isDown ? '-' : ''}/${workKey(work)}/${old === undefined ? '' : workKey(old)}`,
      ({ record, work, old }) => record.epochs | workEpochs(work) | (old === undefined ? 0 : workEpochs(old)),
    ),
    budgets: createPool(
      ({ allowed, healthy, disrupted, hold, ownerLeft, times, isCounted }) =>
        `${allowed}/${healthy}/${disrupted.join()}/${hold === undefined ? '' : `${hold.requestId}.${hold.epoch}.${hold.left}`}/${ownerLeft}/${times}${isCounted}`,
      ({ hold }) => epochBit(hold?.epoch),
    ),
    pods: createPool((pods) => pods.map(({ state, isInFlight }) => `${state}${isInFlight ? '!' : ''}`).join('/')),
    worlds: createPool(worldKey, ({ fencer, backup }) => epochBit(fencer.epoch) | (backup?.epochs ?? 0)),
  }
}

function worldKey(world: World): string {
  const { nodes, isDirty, age, fencer, ownerLocksLeft, evictionsLeft, crashesLeft, fates, backup } = world
  const places = nodes.map(nodeText).join()
  const fence = `${fencer.at}.${fencer.epoch}.${fencer.isSilent}.${fencer.unchanged}`
  const left = `${ownerLocksLeft}/${evictionsLeft}/${crashesLeft.join()}`
  const more = `${world.glassesLeft}/${world.ledgerLossesLeft}/${world.remadeNodesLeft}/${world.remadeBudgetsLeft}`
  return `${places}/${isDirty.join()}/${age}/${fence}/${left}/${more}/${fates.map(fateText).join()}/${backup?.id ?? ''}`
}

export function nodeText({ isUp, cordonedBy, boots, times, isThere }: ModelNode): string {
  return `${isUp}${cordonedBy}${boots}${times}${isThere}`
}

export function fateText({ glass, broken, deletion, forgotten, hasReleased }: Fate): string {
  return `${glass}.${broken.join('+')}.${deletion}.${forgotten}${hasReleased ? '.released' : ''}`
}

function ledgerKey({ nextEpoch, entries, tickets, broken }: Ledger): string {
  const held = entries.map(
    ({ key, uid, holder, epoch, state, scope, bootID, place }) =>
      `${key}.${uid}.${holder}.${epoch}.${state}.${scope}.${bootID ?? ''}.${place?.number ?? ''}.${place?.overtaken ?? 0}`,
  )
  const wanted = tickets.map(
    ({ number, holder, claims, aside, overtaken }) =>
      `${number}.${holder}.${aside ?? ''}.${overtaken ?? 0}.${claims.map(({ key }) => key).join()}`,
  )
  const taken = broken.map(({ key, formerHolder }) => `${key}.${formerHolder}`)
  return `${nextEpoch}/${held.join(';')}/${wanted.join(';')}/${taken.join(';')}`
}

function recordKey(record: DisruptionRecord): string {
  const names = (references: readonly { readonly uid: string }[]) => references.map(({ uid }) => uid).join()
  const { phase, epoch, lockedBudgets, skippedPods, evictedPods, hasFallenBack, lockedAtMs } = record
  const { nodeUid, bootIDBefore, bootIDAfter, cordonedBy, releasedBudgets } = record
  return `${phase}/${epoch ?? ''}/${names(lockedBudgets)}/${names(releasedBudgets)}/${names(skippedPods)}/${names(evictedPods)}/${hasFallenBack}/${lockedAtMs ?? ''}/${nodeUid ?? ''}/${bootIDBefore ?? ''}/${bootIDAfter ?? ''}/${cordonedBy ?? ''}`
}

function stepKey(step: ModelStep): string {
  switch (step.step) {
    case 'take':
      return `take/${step.claims.map(({ key, uid, scope }) => `${key}.${uid}.${scope}`).join()}`
    case 'queue':
      return `queue/${step.aside ?? ''}/${step.claims.map(({ key, scope }) => `${key}.${scope}`).join()}`
    case 'break':
      return `break/${step.keys.join()}`
    case 'release-budgets':
      return `release/${step.keys.join()}/${step.epoch}`
    case 'step-back':
      return `step-back/${step.aside ?? ''}/${step.epoch}`
    case 'record':
    case 'close':
      return `${step.step}/${recordKey(step.record)}`
    case 'lock':
      return `lock/${step.budget.uid}/${step.pods.join()}/${step.untilMs}/${step.epoch}`
    case 'reserve':
      return `reserve ${stepKey(step.of)}`
    case 'unlock':
      return `unlock/${step.budget.uid}/${step.upTo}`
    case 'unmark':
      return `unmark ${stepKey(step.of)}`
    case 'intend':
      return `intend/${step.epoch}/${step.bootID}`
    case 'evict':
      return `evict/${step.pods.map(({ name }) => name).join()}/${step.epoch}`
    case 'renew':
    case 'release':
      return `${step.step}/${step.epoch}`
    default:
      return step.step
  }
}

function stepEpochs(step: ModelStep): number {
  if (step.step === 'record' || step.step === 'close') return epochBit(step.record.epoch)
  if (step.step === 'reserve') return epochBit(step.of.epoch)
  if (step.step === 'unlock') return step.upTo === noLimit ? 0 : epochBit(step.upTo)
  if (step.step === 'unmark') return stepEpochs(step.of)
  return 'epoch' in step ? epochBit(step.epoch) : 0
}

function workKey({ steps, isOvertaken }: Work): string {
  let key = isOvertaken ? '!' : ''
  for (const { id } of steps) key += `${id},`
  return key
}

function workEpochs({ steps }: Work): number {
  let epochs = 0
  for (const step of steps) epochs |= step.epochs
  return epochs
}

export const plainFate: Fate = {
  glass: 'off',
  broken: [],
  deletion: 'no',
  forgotten: 'no',
  hasReleased: false,
}

export const noWork: Work = { steps: [], isOvertaken: false }

export function stateOf(pools: Pools, vector: ArrayLike<number>, at = 0): ModelState {
  const id = (index: number) => vector[at + index] as number
  return {
    ledger: pools.ledgers.at(id(0)),
    drainers: [pools.drainers.at(id(1)), pools.drainers.at(id(2))],
    budgets: [pools.budgets.at(id(3)), pools.budgets.at(id(4))],
    pods: pools.pods.at(id(5)),
    world: pools.worlds.at(id(6)),
  }
}

export function vectorOf({ ledger, drainers, budgets, pods, world }: ModelState): readonly number[] {
  return [ledger.id, drainers[0].id, drainers[1].id, budgets[0].id, budgets[1].id, pods.id, world.id]
}
