import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { LeaderTiming } from '@cofferdam/kubernetes/runtime/leader-lease.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import type { CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'
import { operatorAccount } from '@cofferdam/product/deploy/operator-manifests.ts'
import { controllerNames } from '@cofferdam/product/operator/controller-names.ts'
import { guardAt } from '@cofferdam/product/operator/guard.ts'
import { createLog } from '@cofferdam/product/operator/log.ts'
import { createMetrics } from '@cofferdam/product/operator/metrics.ts'
import { type Operator, startOperator } from '@cofferdam/product/operator/operator.ts'
import type { CephTrust } from '@cofferdam/product/shared/ceph-trust/named-clusters.ts'
import type { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { createFreezable, type Freezable } from '../../scenarios/testing/freezable.ts'
import type { GuardService } from '../../scenarios/testing/guard-service.ts'
import { hazardApi } from './hazard-api.ts'
import { type Hazards, noHazards } from './hazards.ts'

export interface ProcessPorts {
  /** With the rights of the operator's own account. */
  readonly api: KubeApi
  readonly clock: VirtualClock
  readonly random: Random
  readonly guard: GuardService
  /** What befalls all processes alike. */
  readonly shared: Hazards
  readonly trust?: CephTrust
  readonly ceph?: (cluster: ClusterName, isCut: () => boolean) => CephCommands | undefined
  readonly tell: (line: string) => void
}

type ClusterName = { readonly namespace: string; readonly name: string }

/** One process of the operator. */
export interface Process {
  readonly name: string
  readonly hazards: Hazards
  readonly freezable: Freezable
  /** How far its clock is from the right time. */
  skewMs: number
  readonly sinceMs: number
  hasEnded(): boolean
  stop(): Promise<void>
}

export interface Processes {
  /** Those that run now: one for each replica, but for a while after one was lost. */
  readonly running: readonly Process[]
  readonly replicas: number
  /** Call it after each step: where a process has died or ended, another comes. */
  replaceDead(): void
  /** Others come in place of all, with another pace of leader election. */
  restart(timing: LeaderTiming | undefined): Promise<void>
  stop(): Promise<void>
}

const replacedAfterMs = 10_000

/** Two replicas of the operator, with its guard and all of its controllers, one of which leads. */
export function openProcesses(ports: ProcessPorts, replicas = 2): Processes {
  const { clock } = ports
  const running: Process[] = []
  const endings: Promise<void>[] = []
  let count = 0
  let isOver = false
  let timing: LeaderTiming | undefined

  const start = () => {
    count += 1
    running.push(startProcess(ports, `operator-${count}`, timing))
  }

  function bury(process: Process): void {
    running.splice(running.indexOf(process), 1)
    process.hazards.isDead = true
    if (process.freezable.isFrozen) process.freezable.thaw()
    endings.push(process.stop())
  }

  for (let replica = 0; replica < replicas; replica += 1) start()
  return {
    running,
    replicas,
    replaceDead() {
      for (const process of running.slice()) {
        if (!process.hazards.isDead && !process.hasEnded()) continue
        ports.tell(`${process.name} is gone`)
        bury(process)
        clock.after(replacedAfterMs, () => {
          if (!isOver && running.length < replicas) start()
        })
      }
    },
    async restart(given) {
      timing = given
      for (const process of running.slice()) {
        running.splice(running.indexOf(process), 1)
        await ended(clock, process.stop())
      }
      for (let replica = 0; replica < replicas; replica += 1) start()
    },
    async stop() {
      isOver = true
      for (const process of running.slice()) bury(process)
      await ended(clock, Promise.all(endings))
    },
  }
}

async function ended(clock: VirtualClock, ending: Promise<unknown>): Promise<void> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  ending.then(over, over)
  await clock.advanceUntil(() => isOver, 60_000)
  if (!isOver) throw new Error('a process of the operator does not end')
}

function startProcess(ports: ProcessPorts, name: string, timing: LeaderTiming | undefined): Process {
  const { clock, guard, shared, trust, ceph } = ports
  const random = ports.random.stream(name)
  const hazards = noHazards()
  const freezable = createFreezable(clock)
  const hasNoFiles = () => clock.now() < hazards.filesGoneUntilMs
  const isCut = () => hazards.isDead || freezable.isFrozen || hasNoFiles()
  const skew = { ms: 0 }
  const own: Clock = { now: () => clock.now() + skew.ms, elapsed: () => clock.now(), after: freezable.clock.after }
  let known: { readonly commands: CephCommands } | undefined
  const operator: Operator = startOperator({
    api: freezable.api(hazardApi(ports.api, { clock, random: random.stream('hazards'), hazards: [hazards, shared] })),
    clock: own,
    random,
    log: createLog('silent'),
    metrics: createMetrics(),
    controllers: controllerNames,
    dryRun: false,
    lease: { ...operatorAccount, identity: name, ...(timing && { timing }) },
    guard: { ...guardAt({ port: 9443 }), lingerMs: 0, listen: guard.listenFor(isCut) },
    ...(trust && { trust }),
    ...(ceph && {
      ceph(cluster) {
        const commands = known?.commands ?? ceph(cluster, () => hazards.isDead || hasNoFiles())
        known = commands && { commands }
        return commands
      },
    }),
  })
  let hasEnded = false
  let ending: Promise<void> | undefined
  void operator.ended.then(() => {
    hasEnded = true
  })
  return {
    name,
    hazards,
    freezable,
    get skewMs() {
      return skew.ms
    },
    set skewMs(ms) {
      skew.ms = ms
    },
    sinceMs: clock.now(),
    hasEnded: () => hasEnded,
    stop() {
      ending ??= operator.stop()
      return ending
    },
  }
}
