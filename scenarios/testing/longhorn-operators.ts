import type { KubeApi } from '../../src/kube/kube-api.ts'
import { createLog } from '../../src/observability/log.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { startOperator } from '../../src/operator.ts'
import { seededRandom } from '../../src/runtime/random.ts'
import type { VirtualClock } from '../../src/runtime/virtual-clock.ts'
import { controllerNames } from '../../src/wiring/controller-names.ts'
import { guardAt } from '../../src/wiring/guard.ts'
import { openLine } from './cut-line.ts'
import { createFreezable } from './freezable.ts'
import type { GuardService } from './guard-service.ts'
import type { StagedOperator } from './lock-stage.ts'

export interface OperatorsPorts {
  /** With the rights of the operator's own account. */
  readonly api: KubeApi
  readonly clock: VirtualClock
  readonly guard: GuardService
  readonly tell: (line: string) => void
}

export interface OperateOptions {
  /** Another process comes when it has died, as a Deployment sees to. */
  readonly isReplaced?: boolean
  readonly isGuard?: boolean
}

export interface StagedOperators {
  operate(options?: OperateOptions): StagedOperator
  /** Call it now and then: finds the dead, and sends for others. */
  look(): void
  /** One of them is alive, awake, and has had time to look around. */
  isAttended(): boolean
  stop(): Promise<void>
}

const replacedAfterMs = 10_000
const settledAfterMs = 5_000

interface Process {
  readonly sinceMs: number
  readonly isReplaced: boolean
  readonly options: OperateOptions
  readonly staged: StagedOperator
  isBuried: boolean
}

/** The processes of the operator, with all of its controllers; each may die or stand still at any write. */
export function stageOperators({ api, clock, guard, tell }: OperatorsPorts): StagedOperators {
  const processes: Process[] = []
  let awakeSinceMs = 0

  function operate(options: OperateOptions = {}): StagedOperator {
    const { isReplaced = false, isGuard = false } = options
    const line = openLine()
    const process = createFreezable(clock)
    const operator = startOperator({
      api: process.api(line.api(api)),
      clock: process.clock,
      random: seededRandom(101 + processes.length),
      log: createLog('silent'),
      metrics: createMetrics(),
      controllers: controllerNames,
      dryRun: false,
      ...(isGuard
        ? { guard: { ...guardAt({ port: 9443 }), listen: guard.listenFor(() => line.isCut || process.isFrozen) } }
        : {}),
    })
    let ending: Promise<void> | undefined
    let hasEnded = false
    void operator.ended.then(() => {
      hasEnded = true
    })
    const staged: StagedOperator = {
      killAfter: (writes) => line.cutAfter(writes),
      isDead: () => line.isCut,
      kill: () => line.cut(),
      freezeAfter: (writes) => process.freezeAfter(writes),
      isFrozen: () => process.isFrozen,
      thaw() {
        awakeSinceMs = clock.now()
        process.thaw()
      },
      hasEnded: () => hasEnded,
      stop() {
        ending ??= operator.stop()
        return ending
      },
    }
    processes.push({ sinceMs: clock.now(), isReplaced, options, staged, isBuried: false })
    return staged
  }

  return {
    operate,
    look() {
      for (const process of processes) {
        if (!process.staged.isDead() || process.isBuried) continue
        process.isBuried = true
        tell('the operator is dead')
        void process.staged.stop()
        if (process.isReplaced) clock.after(replacedAfterMs, () => void operate(process.options))
      }
    },
    isAttended: () =>
      processes.some(
        ({ staged, sinceMs }) =>
          !staged.isDead() &&
          !staged.isFrozen() &&
          !staged.hasEnded() &&
          clock.now() - Math.max(sinceMs, awakeSinceMs) >= settledAfterMs,
      ),
    async stop() {
      for (const { staged } of processes) if (staged.isFrozen()) staged.thaw()
      await Promise.all(processes.map(({ staged }) => staged.stop()))
    },
  }
}
