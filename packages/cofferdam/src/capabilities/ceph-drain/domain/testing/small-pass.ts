import type { BudgetWrite } from '@cofferdam/kubernetes/api/budget-write.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { holdStorage } from '../../../../ledger/rules/hold-storage.ts'
import { emptyLedger, type Ledger } from '../../../../ledger/rules/ledger.ts'
import { arbiterOf } from '../../../../ledger/rules/storage-arbiter.ts'
import { exampleMap } from '../../../../safety/testing/example-map.ts'
import { known, type Observed } from '../../../../shared/observed.ts'
import { decidePass, type PassDecision } from '../decide-pass.ts'
import { parseOsdBudget } from '../osd-budgets.ts'
import { type Heard, heardNothing, type PassSnapshot } from '../pass-snapshot.ts'
import { calmState } from '../state-map.ts'
import type { CephDrainStep } from '../steps.ts'
import { now } from './fixture.ts'
import type { SmallCeph } from './small-ceph.ts'

/** Who may be in the way of one pass. */
export interface Surroundings {
  readonly record: 'taken' | 'busy' | 'refused' | 'unread'
  /** What Ceph says of failure domains that are to be opened. */
  readonly opinion: Observed<boolean>
  /** After so many steps and writes the process dies. */
  readonly diesAfter: number
}

/** ceph-drain on a small Ceph, with a ledger and budgets that are objects: every step of a pass is performed on them. */
export class SmallPass {
  readonly ceph: SmallCeph
  ledger: Ledger = emptyLedger
  /** What is set in Ceph. */
  readonly flags = new Set<string>()
  #objects = new Map<string, PodDisruptionBudget>()
  #epoch: number | undefined

  constructor(ceph: SmallCeph) {
    this.ceph = ceph
  }

  /** One pass, with `between` before every step and every write of a budget. Tells whether it came to its end. */
  run(around: Surroundings, between: (decision: PassDecision, step: CephDrainStep) => void): boolean {
    let left = around.diesAfter
    // One look: what happens meanwhile is seen by the next pass.
    const observed = around.record === 'unread' ? { ...this.ceph.snapshot(), state: calmState } : this.ceph.snapshot()
    const budgets = [...this.#objects.values()]
    let heard: Heard = { ...heardNothing, ledger: known(this.ledger) }
    for (let round = 0; round < 40; round += 1) {
      const decision = decidePass(this.#snapshot(observed, budgets, heard))
      let isLearned = false
      for (const step of decision.steps) {
        for (const part of step.name === 'budgets' ? step.writes.map((write) => ({ ...step, writes: [write] })) : []) {
          if (this.#dies(left--)) return false
          between(decision, part)
          this.#writeBudget(part.writes[0] as BudgetWrite)
        }
        if (this.#dies(left--)) return false
        between(decision, step)
        const learned = this.#perform(step, heard, around)
        const isRepeatable = step.name === 'hear-ceph' || (step.name === 'hold-storage' && learned !== undefined)
        heard = { ...heard, ...learned, performed: [...heard.performed, ...(isRepeatable ? [] : [step.name])] }
        isLearned = learned !== undefined && !('record' in learned && learned.record && 'taken' in learned.record)
        if (isLearned) break
      }
      if (!isLearned) return true
    }
    throw new Error('the pass never ends')
  }

  /** Another process takes over: what this one remembers is gone. */
  #dies(left: number): boolean {
    if (left > 0) return false
    this.#epoch = undefined
    return true
  }

  #snapshot(observed: PassSnapshot['observed'], budgets: readonly PodDisruptionBudget[], heard: Heard): PassSnapshot {
    const { namespace } = observed.cluster
    const pgs = this.ceph.pgs.map(({ acting }, at) => ({ pg: `1.${at.toString(16)}`, acting }))
    return {
      observed,
      budgets,
      heard,
      record: {
        namespace,
        name: 'record',
        configMap: undefined,
        state: observed.state,
        reason: undefined,
        silentSince: undefined,
      },
      map: exampleMap({ hosts: { all: this.ceph.osds }, pgs }),
      isReachable: true,
      silentSince: undefined,
      problems: [],
      turnBefore: undefined,
      memory: {
        failures: [],
        isNoteCleared: true,
        heldEpoch: this.#epoch,
        probe: { isDue: false, problem: undefined },
      },
    }
  }

  /** What was learned; undefined: the next step follows. */
  #perform(step: CephDrainStep, heard: Heard, { record, opinion }: Surroundings): Partial<Heard> | undefined {
    switch (step.name) {
      case 'hear-ceph':
        return {
          cephSays: { ...heard.cephSays, ...Object.fromEntries(step.domains.map(({ domain }) => [domain, opinion])) },
        }
      case 'hold-storage': {
        const { cluster } = this.ceph.snapshot()
        const held = holdStorage(this.ledger, { id: cluster, wanted: step.claim, epoch: this.#epoch, now })
        if (held.epoch === undefined) return { ledger: known(this.ledger), ledgerRefusals: heard.ledgerRefusals + 1 }
        this.ledger = held.ledger
        this.#epoch = held.epoch
        return undefined
      }
      case 'settle-storage': {
        const { own } = arbiterOf(this.ledger, this.ceph.snapshot().cluster)
        if (step.wants === 'release')
          this.ledger = { ...this.ledger, entries: this.ledger.entries.filter((entry) => !own.includes(entry)) }
        return undefined
      }
      case 'record': {
        const isPassing = record === 'busy'
        if (record !== 'taken')
          return { record: { refused: { why: 'refused', isPassing, isForbidden: false, forMs: 0 } } }
        if (step.change.state !== undefined) this.ceph.state = step.change.state
        return { record: { taken: step.record } }
      }
      case 'record-flags':
        if (step.change.state !== undefined) this.ceph.state = step.change.state
        return undefined
      case 'flags':
        this.ceph.setNoout(step)
        for (const bucket of step.set) this.flags.add(bucket)
        for (const bucket of step.unset) this.flags.delete(bucket)
        return { flags: { set: step.set, unset: step.unset, gone: [], failed: [] } }
      default:
        return undefined
    }
  }

  #writeBudget(write: BudgetWrite): void {
    if (write.verb === 'delete') this.#objects.delete(write.seen.metadata.name)
    else this.#objects.set(write.budget.metadata.name, write.budget)
    this.#showBudgets()
  }

  /** Somebody deletes the budget at this place. */
  loseBudget(at: number): void {
    this.#objects = new Map([...this.#objects].filter((_, place) => place !== at))
    this.#showBudgets()
  }

  #showBudgets(): void {
    const { cluster } = this.ceph.snapshot()
    this.ceph.budgets = [...this.#objects.values()].flatMap((budget) => parseOsdBudget(budget, cluster) ?? [])
  }
}
