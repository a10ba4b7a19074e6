import type { BudgetWrite } from '@cofferdam/kubernetes/api/budget-write.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { CephPorts, MonQuorum } from '../../../ceph/reader/ceph-ports.ts'
import { type Observed, unknown } from '../../../shared/observed.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { Performers } from '../../interpreter.ts'
import type { StaticBudgetStep } from '../domain/static-steps.ts'
import type { StaticBudgetObserver } from '../observe/static-budgets.ts'
import type { StorageTurns } from './storage-turns.ts'

export interface StaticPerformPorts {
  readonly clock: Clock
  readonly budgets: Pick<WatchView<PodDisruptionBudget>, 'whenSeen'>
  readonly ceph: Pick<CephPorts, 'of' | 'observeQuorum'>
  readonly events: EventRecorder<Reason>
  readonly observer: StaticBudgetObserver
  readonly turns: StorageTurns | undefined
  /** `onStored` is called with what was sent and with what the API server made of it. */
  applyBudgets(
    writes: readonly BudgetWrite[],
    signal: AbortSignal,
    onStored: (sent: PodDisruptionBudget, stored: PodDisruptionBudget) => void,
  ): Promise<string | undefined>
}

/** Performs the steps of one pass of ceph-static-budgets. It decides nothing. */
export class StaticBudgetPerformer {
  readonly #ports: StaticPerformPorts
  readonly #pass: { readonly key: string; readonly cluster: CephCluster; readonly signal: AbortSignal }
  #leave: (() => void) | undefined
  #hasAsked = false

  constructor(
    ports: StaticPerformPorts,
    pass: { readonly key: string; readonly cluster: CephCluster; readonly signal: AbortSignal },
  ) {
    this.#ports = ports
    this.#pass = pass
  }

  /** What came of the steps so far. */
  get heard(): { readonly isInTurn: boolean | undefined; readonly hasAsked: boolean } {
    return {
      isInTurn: this.#ports.turns === undefined ? undefined : this.#leave !== undefined,
      hasAsked: this.#hasAsked,
    }
  }

  readonly perform: Performers<StaticBudgetStep> = {
    ask: async () => {
      const { clock, observer } = this.#ports
      const askedAt = clock.now()
      observer.noteQuorum(this.#pass.key, await this.#askQuorum(), askedAt)
      this.#hasAsked = true
      return 'learned'
    },
    hold: async (step) => {
      const { turns, observer } = this.#ports
      const { key } = this.#pass
      if (step.name === 'enter-turn') {
        this.#leave = await turns?.enter(key)
        return 'learned'
      }
      observer.noteDaemonBudgets(key, step.daemonBudgets)
      if (step.looseNodes !== undefined) turns?.publishLoose(key, step.looseNodes)
      this.end()
      return 'done'
    },
    write: async ({ writes }) => {
      const { signal } = this.#pass
      const { observer } = this.#ports
      const version = await this.#ports.applyBudgets(writes, signal, (sent, stored) =>
        observer.noteStored(sent, stored),
      )
      if (version !== undefined) await this.#ports.budgets.whenSeen(version, signal)
      return 'done'
    },
    report: async ({ problems }) => {
      const { events } = this.#ports
      const { key, cluster } = this.#pass
      const note = problems.map(({ object, problem }) => `${object}: ${problem}`).join('; ')
      if (note === '') events.forget(key)
      else await events.record(cluster, { type: 'Warning', reason: 'ObjectsUnusable', note }, { group: key })
      return 'done'
    },
  }

  /** To be called when the pass is over, however it ended. */
  end(): void {
    this.#leave?.()
  }

  async #askQuorum(): Promise<Observed<MonQuorum>> {
    const { ceph } = this.#ports
    const { cluster, signal } = this.#pass
    const commands = ceph.of({ namespace: cluster.metadata.namespace ?? '', name: cluster.metadata.name })
    if (commands === undefined) return unknown('no way to reach this Ceph is known')
    try {
      return await ceph.observeQuorum(commands, signal)
    } catch (error) {
      signal.throwIfAborted()
      return unknown(error instanceof Error ? error.message : String(error))
    }
  }
}
