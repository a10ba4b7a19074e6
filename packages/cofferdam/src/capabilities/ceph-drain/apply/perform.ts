import { ApiError, hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { BudgetWrite } from '@cofferdam/kubernetes/api/budget-write.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { CephCommands } from '../../../ceph/ceph-commands.ts'
import type { CephPorts } from '../../../ceph/reader/ceph-ports.ts'
import type { OkToStopProbes } from '../../../ceph/reader/ok-to-stop-probes.ts'
import type { storageHold } from '../../../ledger/rules/hold-storage.ts'
import type { LedgerHold } from '../../../ledger/store/ledger-hold.ts'
import type { Observed } from '../../../shared/observed.ts'
import type { Performers, StepOutcome } from '../../interpreter.ts'
import type { Heard } from '../domain/pass-snapshot.ts'
import type {
  AskedDomain,
  CephDrainStep,
  ClearNote,
  CloseBudgets,
  HearCeph,
  HoldStorage,
  NotifyDecided,
  ReadCeph,
  ReleaseRecord,
  ReportDecided,
  SettleStorage,
  TryCeph,
  WriteBudgets,
  WriteFlags,
  WriteNote,
  WriteRecord,
} from '../domain/steps.ts'
import type { CephDrainReporter, CephReports } from '../report/report.ts'
import type { PassMemories } from './pass-memories.ts'
import { deleteObserved, observedName, readRecord, releaseRecord, writeRecord } from './record.ts'
import type { StorageTurns } from './storage-turns.ts'

export interface PerformPorts {
  readonly api: Pick<KubeApi, 'get' | 'create' | 'update' | 'delete'>
  readonly clock: Clock
  readonly budgets: Pick<WatchView<PodDisruptionBudget>, 'get' | 'whenSeen'>
  readonly ceph: Pick<CephPorts, 'askOkToStop' | 'applyNoout' | 'reader'>
  readonly reports: Pick<CephReports, 'countRefusedWrite'>
  readonly reporter: CephDrainReporter
  readonly hold: StorageHold
  readonly memories: PassMemories
  readonly probes: OkToStopProbes
  readonly turns?: StorageTurns
  applyBudgets(writes: readonly BudgetWrite[], signal: AbortSignal): Promise<string | undefined>
}

export type StorageHold = LedgerHold<
  Parameters<typeof storageHold.nameOf>[0],
  Parameters<typeof storageHold.requestIdOf>[0]
>

/** The pass that steps belong to. */
export interface PassOf {
  readonly key: string
  readonly cluster: CephCluster
  readonly ceph: CephCommands | undefined
  /** Others in this process learn what was decided. */
  readonly notifyDecided: ((step: NotifyDecided) => void) | undefined
  /** Takes the snapshot of the pass again, with what Ceph says now. */
  readCeph(): Promise<void>
  readonly signal: AbortSignal
}

/** Performs the steps of one pass, and keeps what was heard in it. It decides nothing. */
export class CephDrainPerformer {
  readonly #ports: PerformPorts
  readonly #pass: PassOf
  #heard: Heard
  #leaveTurn: () => void = () => {}
  /** What the API server said to the record, when it did not take it. */
  recordError: unknown

  constructor(ports: PerformPorts, pass: PassOf, heard: Heard) {
    this.#ports = ports
    this.#pass = pass
    this.#heard = heard
  }

  get heard(): Heard {
    return this.#heard
  }

  readonly perform: Performers<CephDrainStep> = {
    ask: (step) => {
      switch (step.name) {
        case 'read-ceph':
          return this.#readCeph(step)
        case 'hear-ceph':
          return this.#hear(step)
        default:
          return this.#try(step)
      }
    },
    hold: (step) => {
      switch (step.name) {
        case 'hold-storage':
          return this.#holdStorage(step)
        case 'settle-storage':
          return this.#settleStorage(step)
        default:
          return this.#takeTurn(step)
      }
    },
    write: (step) => {
      switch (step.name) {
        case 'record':
          return this.#writeIntent(step)
        case 'record-flags':
          return this.#writeRecord(step)
        case 'close-budgets':
        case 'budgets':
          return this.#writeBudgets(step)
        case 'flags':
          return this.#writeFlags(step)
        case 'release-record':
          return this.#releaseRecord(step)
        default:
          return this.#writeNote(step)
      }
    },
    report: (step) => (step.name === 'tell' ? this.#notify(step) : this.#report(step)),
  }

  /** To be called when the pass is over, however it ended. */
  end(): void {
    this.#leaveTurn()
  }

  #done(step: CephDrainStep): StepOutcome {
    return this.#after(step, {}, 'done')
  }

  #learned(step: CephDrainStep, learned: Partial<Heard>): StepOutcome {
    return this.#after(step, learned, 'learned')
  }

  #after({ name }: CephDrainStep, learned: Partial<Heard>, outcome: StepOutcome): StepOutcome {
    this.#heard = { ...this.#heard, ...learned, performed: [...this.#heard.performed, name] }
    return outcome
  }

  async #readCeph(step: ReadCeph): Promise<StepOutcome> {
    await this.#pass.readCeph()
    return this.#learned(step, {})
  }

  async #hear({ domains }: HearCeph): Promise<StepOutcome> {
    const answers = await Promise.all(
      domains.map(async ({ domain, ...asked }) => [domain, await this.#ask(asked)] as const),
    )
    const said = Object.fromEntries<Observed<boolean>>(answers)
    this.#heard = { ...this.#heard, cephSays: { ...this.#heard.cephSays, ...said } }
    return 'learned'
  }

  async #try(step: TryCeph): Promise<StepOutcome> {
    const answer = await this.#ask(step.question)
    if (!answer.known) return this.#done(step)
    const isProbeChanged = this.#ports.probes.hear(this.#pass.key, step.question, answer.value)
    return this.#learned(step, { isProbeChanged })
  }

  #ask(asked: Omit<AskedDomain, 'domain'>): Promise<Observed<boolean>> {
    const { osds, ignoredPools } = asked
    return this.#ports.ceph.askOkToStop(this.#pass.ceph as CephCommands, osds, this.#pass.signal, ignoredPools)
  }

  async #holdStorage(step: HoldStorage): Promise<StepOutcome> {
    const acquired = await this.#ports.hold.acquire(this.#id(), step.claim, this.#pass.signal)
    if (acquired.outcome !== 'refused') return this.#done(step)
    const ledgerRefusals = this.#heard.ledgerRefusals + 1
    this.#heard = { ...this.#heard, ledger: acquired.ledger, ledgerRefusals }
    return 'learned'
  }

  async #settleStorage(step: SettleStorage): Promise<StepOutcome> {
    const { failure } = await this.#ports.hold.settle(this.#id(), step.wants, this.#pass.signal)
    if (failure === undefined) return this.#done(step)
    return this.#learned(step, { unsettled: [{ object: failure.object, problem: failure.problem }] })
  }

  #id() {
    const { namespace = '', name, uid = '' } = this.#pass.cluster.metadata
    return { namespace, name, uid }
  }

  async #takeTurn(step: Extract<CephDrainStep, { name: 'enter-turn' | 'leave-turn' | 'forget-turn' }>) {
    const { turns } = this.#ports
    const { key } = this.#pass
    if (step.name === 'forget-turn') turns?.forget(key)
    if (step.name === 'enter-turn') {
      this.#leaveTurn = (await turns?.enter(key)) ?? this.#leaveTurn
      turns?.narrow(key, step.turn)
    }
    if (step.name === 'leave-turn') {
      if (step.turn !== undefined) turns?.publish(key, step.turn)
      this.#leaveTurn()
    }
    return this.#done(step)
  }

  async #writeIntent(step: WriteRecord): Promise<StepOutcome> {
    const { key, signal } = this.#pass
    try {
      const taken = await this.#write(step)
      this.#ports.memories.noteTaken(key)
      return this.#after(step, { record: { taken } }, 'done')
    } catch (error) {
      signal.throwIfAborted()
      this.recordError = error
      const refused = {
        why: textOf(error),
        isPassing: isPassing(error),
        isForbidden: hasReason(error, 'Forbidden'),
        forMs: this.#ports.memories.noteRefused(key),
      }
      return this.#learned(step, { record: { refused } })
    }
  }

  async #writeRecord(step: WriteRecord): Promise<StepOutcome> {
    await this.#write(step)
    return this.#done(step)
  }

  async #releaseRecord(step: ReleaseRecord): Promise<StepOutcome> {
    await releaseRecord(this.#ports.api, step.record, step.release, this.#pass.signal)
    return this.#done(step)
  }

  #write({ record, change }: Pick<WriteRecord, 'record' | 'change'>) {
    const { api, clock } = this.#ports
    return writeRecord(api, record, { ...change, now: timestamp(clock), owner: this.#id() }, this.#pass.signal)
  }

  async #writeBudgets(step: WriteBudgets | CloseBudgets): Promise<StepOutcome> {
    const { signal } = this.#pass
    const version = await this.#ports.applyBudgets(step.writes, signal)
    if (version !== undefined) await this.#ports.budgets.whenSeen(version, signal)
    return this.#done(step)
  }

  async #writeFlags(step: WriteFlags): Promise<StepOutcome> {
    const { key, ceph, signal } = this.#pass
    const { set, unset } = step
    const flags = await this.#ports.ceph.applyNoout(ceph as CephCommands, { set, unset }, signal)
    this.#ports.ceph.reader.disturb(key)
    return this.#learned(step, { flags })
  }

  /** A failed write of texts for people blocks nothing else, unless they are all there is to write. */
  async #writeNote(step: WriteNote | ClearNote): Promise<StepOutcome> {
    const { key, signal } = this.#pass
    const { memories } = this.#ports
    memories.noteCleared(key, false)
    try {
      await (step.name === 'note' ? this.#note(step) : this.#clearNote())
      memories.noteCleared(key, step.name === 'clear-note')
      return this.#done(step)
    } catch (error) {
      signal.throwIfAborted()
      if (step.name === 'note' && step.isNeeded) throw error
      const problem = { object: `configmap/${observedName}`, problem: `could not be written: ${textOf(error)}` }
      return this.#learned(step, { failures: [...this.#heard.failures, problem] })
    }
  }

  async #note({ change }: WriteNote): Promise<void> {
    const { namespace } = this.#id()
    const record = await readRecord(this.#ports.api, { namespace, name: observedName }, this.#pass.signal)
    await this.#write({ record, change })
  }

  #clearNote(): Promise<void> {
    return deleteObserved(this.#ports.api, this.#id().namespace, this.#pass.signal)
  }

  async #notify(step: NotifyDecided): Promise<StepOutcome> {
    this.#ports.memories.noteFailures(this.#pass.key, step.failures)
    this.#pass.notifyDecided?.(step)
    return this.#done(step)
  }

  async #report(step: ReportDecided): Promise<StepOutcome> {
    const { key, cluster } = this.#pass
    if (step.isRecordForbidden) this.#ports.reports.countRefusedWrite(key)
    const { namespace } = this.#id()
    const budgetOf = (name: string) => this.#ports.budgets.get({ namespace, name })
    await this.#ports.reporter.report({ ...step, key, cluster, budgetOf })
    return this.#done(step)
  }
}

const passing = [
  'AlreadyExists',
  'Conflict',
  'InternalError',
  'ServerTimeout',
  'ServiceUnavailable',
  'Timeout',
  'TooManyRequests',
] as const

/** Whether the next attempt may well be taken: somebody wrote at the same time, or nobody answered. */
function isPassing(error: unknown): boolean {
  return !(error instanceof ApiError) || hasReason(error, ...passing)
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
