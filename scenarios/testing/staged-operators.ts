import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import type { CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'
import { operatorAccount } from '@cofferdam/product/deploy/operator-manifests.ts'
import type { AppLockPolicy } from '@cofferdam/product/ledger/rules/app-lock.ts'
import { controllerNames } from '@cofferdam/product/operator/controller-names.ts'
import { guardAt } from '@cofferdam/product/operator/guard.ts'
import { createLog } from '@cofferdam/product/operator/log.ts'
import { createMetrics } from '@cofferdam/product/operator/metrics.ts'
import { startOperator } from '@cofferdam/product/operator/operator.ts'
import type { CephTrust } from '@cofferdam/product/shared/ceph-trust/named-clusters.ts'
import type { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import type { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { type CrashMoment, type CutLine, openLine } from './cut-line.ts'
import { createFreezable } from './freezable.ts'
import type { GuardService } from './guard-service.ts'
import type { StagedOperator } from './lock-fixture.ts'
import { behindMs, outdate } from './outdated-caches.ts'
import { type RoughRoad, roughen } from './rough-road.ts'

export interface OperatorsPorts {
  /** With the rights of the operator's own account. */
  readonly api: KubeApi
  readonly server: Pick<ApiServer, 'version'>
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
  /** At which write it dies. The one that comes in its place does not die. */
  readonly crash?: CrashPoint
  /** The cluster as it was at this version is what its caches begin with. */
  readonly outdated?: number
  /** With a lease, as several replicas have; without one it acts from the start. */
  readonly identity?: string
  readonly appLocks?: AppLockPolicy
}

/** A write of a process, counted from 1, and what the next process knows: how it is, or how it was a few of those writes before. */
export interface CrashPoint {
  readonly write: number
  readonly moment: CrashMoment
  readonly restart: 'fresh' | 'stale'
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
  /** The version of the cluster before each of its writes. */
  readonly versions: readonly number[]
  isBuried: boolean
}

/** So many writes of the dead process may be unknown to the caches of the next one. */
const forgottenWrites = 3

function successorOf({ options, versions }: Process): OperateOptions {
  const { crash, outdated: _, identity, ...lasting } = options
  const known = crash?.restart === 'stale' ? versions.slice(-forgottenWrites)[0] : undefined
  return {
    ...lasting,
    ...(known !== undefined && { outdated: known }),
    ...(identity !== undefined && { identity: `after ${identity}` }),
  }
}

/** Some writes get through or not like all the rest, but are not counted: who leads, and news where an operator does not die at it. */
function untold(line: CutLine, api: KubeApi, diesAtEvents: boolean): KubeApi {
  const counted = line.api(api)
  const isUntold = (plural: string, namespace: string | undefined) =>
    !line.isCut &&
    ((plural === 'events' && !diesAtEvents) || (plural === 'leases' && namespace === operatorAccount.namespace))
  return {
    ...counted,
    create: (type, object, ...args) =>
      (isUntold(type.plural, object.metadata.namespace) ? api : counted).create(type, object, ...args),
    update: (type, object, ...args) =>
      (isUntold(type.plural, object.metadata.namespace) ? api : counted).update(type, object, ...args),
  }
}

/** The processes of the operator, with all of its controllers; each may die or stand still at any write. */
export function openOperators(ports: OperatorsPorts): StagedOperators {
  const { clock, random, ceph, guard, settledAfterMs } = ports
  const processes: Process[] = []
  let awakeSinceMs = 0

  function operate(options: OperateOptions = {}): StagedOperator {
    const versions: number[] = []
    const line = openLine(() => versions.push(ports.server.version))
    if (options.crash !== undefined) line.cutAt(options.crash.write, options.crash.moment)
    // One and the same for as long as that behind it is: whoever follows its log begins anew otherwise.
    let lined: { readonly of: CephCommands; readonly line: CephCommands } | undefined
    const process = createFreezable(clock)
    const number = processes.length + 1
    const known = options.outdated === undefined ? ports.api : outdate(ports.api, clock, options.outdated)
    const api = options.road === undefined ? known : roughen(known, clock, options.road)
    const operator = startOperator({
      api: process.api(untold(line, api, ports.diesAtEvents)),
      clock: process.clock,
      random: random.stream(`operator ${number}`),
      log: createLog('silent'),
      metrics: createMetrics(),
      controllers: controllerNames.filter((name) => !options.without?.includes(name)),
      dryRun: false,
      ...(options.appLocks && { appLocks: options.appLocks }),
      ...(options.identity !== undefined && { lease: { ...operatorAccount, identity: options.identity } }),
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
      written: () => line.written,
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
    processes.push({ sinceMs: clock.now(), options, staged, versions, isBuried: false })
    return staged
  }

  const isSettled = ({ staged, sinceMs, options }: Process) =>
    !staged.isDead() &&
    !staged.isFrozen() &&
    !staged.hasEnded() &&
    clock.now() - Math.max(sinceMs, awakeSinceMs) >= settledAfterMs + (options.outdated === undefined ? 0 : behindMs)

  return {
    operate,
    newest: () => processes.at(-1)?.staged,
    look() {
      for (const process of processes) {
        if (!process.staged.isDead() || process.isBuried) continue
        process.isBuried = true
        ports.tell('the operator is dead')
        void process.staged.stop()
        if (process.options.isReplaced === true) clock.after(replacedAfterMs, () => void operate(successorOf(process)))
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
