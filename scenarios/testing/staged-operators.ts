import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import type { CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'
import { controllerNames } from '@cofferdam/product/operator/controller-names.ts'
import { guardAt } from '@cofferdam/product/operator/guard.ts'
import { createLog } from '@cofferdam/product/operator/log.ts'
import { createMetrics } from '@cofferdam/product/operator/metrics.ts'
import { startOperator } from '@cofferdam/product/operator/operator.ts'
import type { CephTrust } from '@cofferdam/product/shared/ceph-trust/named-clusters.ts'
import type { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { type CutLine, openLine } from './cut-line.ts'
import { createFreezable } from './freezable.ts'
import type { GuardService } from './guard-service.ts'
import type { StagedOperator } from './lock-fixture.ts'
import { type RoughRoad, roughen } from './rough-road.ts'

export interface OperatorsPorts {
  /** With the rights of the operator's own account. */
  readonly api: KubeApi
  readonly clock: VirtualClock
  /** Each process draws from a stream of its own. */
  readonly random: Random
  readonly tell: (line: string) => void
  readonly ceph?: (cluster: { readonly namespace: string; readonly name: string }) => CephCommands | undefined
  readonly trust?: CephTrust
  readonly guard?: GuardService
  /** How long one that has come or woken up needs to look around. */
  readonly settledAfterMs: number
  /** Whether an operator may die at an event, which is news and no deed. */
  readonly diesAtEvents: boolean
}

export interface OperateOptions {
  /** Another process comes when it has died, as a Deployment sees to. */
  readonly isReplaced?: boolean
  readonly isGuard?: boolean
  /** Controllers that it does not run. */
  readonly without?: readonly string[]
  /** What its administrator says of Ceph clusters, if not what the stage does. */
  readonly trust?: CephTrust
  /** What it hears comes late, and its writes meet those of others. */
  readonly road?: RoughRoad
}

export interface StagedOperators {
  operate(options?: OperateOptions): StagedOperator
  /** The process that came last, also in place of another; undefined before the first. */
  newest(): StagedOperator | undefined
  /** Call it now and then: finds the dead, and sends for others. */
  look(): void
  /** One of them is alive, awake, and has had time to look around. */
  isAttended(): boolean
  /** One of these asks about evictions before they get through. */
  isGuarded(): boolean
  /** How late the slowest of them hears. */
  lagMs(): number
  stop(): Promise<void>
}

const replacedAfterMs = 10_000

interface Process {
  readonly sinceMs: number
  readonly options: OperateOptions
  readonly staged: StagedOperator
  isBuried: boolean
}

/** Events get through or not like all the rest, but are not counted. */
function untold(line: CutLine, api: KubeApi): KubeApi {
  const counted = line.api(api)
  return {
    ...counted,
    create: (type, ...args) =>
      type.plural === 'events' && !line.isCut ? api.create(type, ...args) : counted.create(type, ...args),
  }
}

/** The processes of the operator, with all of its controllers; each may die or stand still at any write. */
export function openOperators(ports: OperatorsPorts): StagedOperators {
  const { clock, random, ceph, guard, settledAfterMs } = ports
  const processes: Process[] = []
  let awakeSinceMs = 0

  function operate(options: OperateOptions = {}): StagedOperator {
    const line = openLine()
    // One and the same for as long as that behind it is: whoever follows its log begins anew otherwise.
    let lined: { readonly of: CephCommands; readonly line: CephCommands } | undefined
    const process = createFreezable(clock)
    const number = processes.length + 1
    const api = options.road === undefined ? ports.api : roughen(ports.api, clock, options.road)
    const operator = startOperator({
      api: process.api(ports.diesAtEvents ? line.api(api) : untold(line, api)),
      clock: process.clock,
      random: random.stream(`operator ${number}`),
      log: createLog('silent'),
      metrics: createMetrics(),
      controllers: controllerNames.filter((name) => !options.without?.includes(name)),
      dryRun: false,
      ...((options.trust ?? ports.trust) && { trust: options.trust ?? ports.trust }),
      ...(ceph && {
        ceph(cluster) {
          const commands = ceph(cluster)
          if (commands === undefined || lined?.of === commands) return commands && lined?.line
          lined = { of: commands, line: line.commands(commands) }
          return lined.line
        },
      }),
      ...(options.isGuard === true && guard !== undefined
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
    processes.push({ sinceMs: clock.now(), options, staged, isBuried: false })
    return staged
  }

  const isSettled = ({ staged, sinceMs }: Process) =>
    !staged.isDead() &&
    !staged.isFrozen() &&
    !staged.hasEnded() &&
    clock.now() - Math.max(sinceMs, awakeSinceMs) >= settledAfterMs

  return {
    operate,
    newest: () => processes.at(-1)?.staged,
    look() {
      for (const process of processes) {
        if (!process.staged.isDead() || process.isBuried) continue
        process.isBuried = true
        ports.tell('the operator is dead')
        void process.staged.stop()
        if (process.options.isReplaced === true) clock.after(replacedAfterMs, () => void operate(process.options))
      }
    },
    isAttended: () => processes.some(isSettled),
    isGuarded: () => processes.some((process) => process.options.isGuard === true && isSettled(process)),
    lagMs: () => Math.max(0, ...processes.map(({ options }) => options.road?.lagMs ?? 0)),
    async stop() {
      for (const { staged } of processes) if (staged.isFrozen()) staged.thaw()
      await Promise.all(processes.map(({ staged }) => staged.stop()))
    },
  }
}
