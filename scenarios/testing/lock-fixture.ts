import type { Event } from '@cofferdam/kubernetes/api/core.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import {
  deployments,
  events,
  namespaces,
  nodes,
  podDisruptionBudgets,
  pods,
  statefulSets,
} from '@cofferdam/kubernetes/api/resources.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { installOperator } from '@cofferdam/product/cli/demo/install-operator.ts'
import { type BreakGlass, formatBreakGlass } from '@cofferdam/product/ledger/rules/break-glass.ts'
import { emptyLedger, type Ledger } from '@cofferdam/product/ledger/rules/ledger.ts'
import { parseLedger } from '@cofferdam/product/ledger/rules/parse-ledger.ts'
import { appLockAnnotation } from '@cofferdam/product/shared/app-lock-annotation.ts'
import { breakGlassAnnotation } from '@cofferdam/product/shared/break-glass-annotation.ts'
import { disruptionLedgers, ledgerName } from '@cofferdam/product/shared/kinds/disruption-ledger.ts'
import { type NodeDisruption, nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import type { PolicyRule } from '@cofferdam/simulator/api-server/access/policy-rule.ts'
import type { ApiServer, ApiServerOptions } from '@cofferdam/simulator/api-server/api-server.ts'
import { serviceAccountUser } from '@cofferdam/simulator/api-server/user-info.ts'
import type { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import type { Views } from '@cofferdam/simulator/world/actor.ts'
import type { ContainerRuntime } from '@cofferdam/simulator/world/nodes/container-runtime.ts'
import { startWorld, type World } from '@cofferdam/simulator/world/start-world.ts'
import { budget, deployment, node, statefulSet } from '@cofferdam/simulator/world/testing/scenario.ts'
import { type Drain, startDrain } from './drainer.ts'
import type { GuardService } from './guard-service.ts'
import { openGuardedServer } from './guarded-server.ts'
import { type LockOracle, watchLocks } from './lock-oracle.ts'
import { recordLocks } from './lock-recorder.ts'
import { startRebooter } from './rebooter.ts'
import { settled } from './settled.ts'
import { type OperateOptions, openOperators } from './staged-operators.ts'
import { openTrace, type Trace } from './trace.ts'

/** One process of the operator. */
export interface StagedOperator {
  /** Cuts it off in the middle of what it does: after so many more writes nothing of it gets through. */
  killAfter(writes: number): void
  isDead(): boolean
  /** Every write that it has tried, in order: `patch nodes node-1`. */
  written(): readonly string[]
  kill(): void
  /** The process stands still after so many more writes, and does not know it. */
  freezeAfter(writes: number): void
  isFrozen(): boolean
  thaw(): void
  /** Whether it has ended, of itself or because it was stopped. */
  hasEnded(): boolean
  stop(): Promise<void>
}

export interface LockFixture {
  readonly api: KubeApi
  readonly server: ApiServer
  /** The API as a ServiceAccount of the shop may use it who was given these rights there and no others. */
  memberOfShop(name: string, rules: readonly PolicyRule[]): Promise<KubeApi>
  readonly clock: VirtualClock
  readonly world: World
  readonly views: Views
  readonly trace: Trace
  readonly oracle: LockOracle
  readonly guard: GuardService
  /** Lets time pass; the oracle looks on. */
  seconds(count: number): Promise<void>
  /** Lets time pass until it holds; fails the scenario when it does not in time. */
  until(what: string, holds: () => boolean | Promise<boolean>, withinSeconds?: number): Promise<void>
  /**
   * With `isReplaced`, another process comes when it has died, as a Deployment sees to. It is a guard unless told otherwise, and runs
   * every controller but those that are left out.
   */
  operate(options?: OperateOptions): StagedOperator
  /** The process that came last, also in place of another. */
  newestOperator(): StagedOperator | undefined
  /** Pods that stay for a reboot, one on each node, with a budget of one. */
  addStaying(name: string, namespace?: string): Promise<void>
  /** Pods that leave. */
  addLeaving(name: string, options?: { namespace?: string; replicas?: number; maxUnavailable?: number }): Promise<void>
  request(name: string, spec: Partial<NodeDisruption['spec']> & { readonly nodeName: string }): Promise<void>
  breakGlass(request: string, glass: BreakGlass): Promise<void>
  reach(name: string, phase: string, withinSeconds?: number): Promise<void>
  phaseOf(name: string): string
  /** `pdb/shop/db HeldByRequest`: what stands in the way of a request, as its record says. */
  blockersOf(name: string): string[]
  statusOf(name: string): NonNullable<NodeDisruption['status']>
  /** An owner's annotation on a budget, as it stands; undefined takes it away. */
  lock(name: string, text: string | undefined): Promise<void>
  /** Nodes go down for so long as soon as their request says that they may. */
  rebootForSeconds(seconds: number): void
  drain(nodeName: string): Drain
  ledger(): Ledger
  /** `node/node-1 Acting`. */
  heldKeys(): string[]
  isCordoned(nodeName: string): boolean
  podsOn(nodeName: string): string[]
  nodeOf(pod: string): string
  /** The name of any pod of an application. */
  podOf(app: string, namespace?: string): string
  /** Everything that a request could have left on the budgets, and what they allow. */
  budgets(): string[]
  /** Reasons of the operator's own events about an object, in order. */
  told(name: string): Promise<string[]>
  close(): Promise<void>
}

const stepMs = 500
const shop = 'shop'

const patient = ['not-ready', 'unreachable'].map((absence) => ({
  key: `node.kubernetes.io/${absence}`,
  operator: 'Exists' as const,
  effect: 'NoExecute' as const,
  tolerationSeconds: 1_200,
}))

export interface LockFixtureOptions {
  readonly nodeCount?: number
  readonly seed?: number
  /** What really runs behind pods. */
  readonly runtime?: (ports: { readonly api: KubeApi; readonly clock: VirtualClock }) => ContainerRuntime
  readonly server?: Pick<ApiServerOptions, 'optionalField'>
}

/** Nodes with applications on them, up and ready, before any operator has come. */
export async function openLockFixture({
  nodeCount = 3,
  seed = 1,
  runtime,
  server: serverOptions = {},
}: LockFixtureOptions = {}): Promise<LockFixture> {
  const { clock, random, guard, server, api } = openGuardedServer(seed, serverOptions)
  const operatorApi = await installOperator(server)
  for (let number = 1; number <= nodeCount; number += 1) await api.create(nodes, node(number))
  for (const name of [shop, 'bank'])
    await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  const world = startWorld({
    api,
    clock,
    random,
    kubelet: {
      readySeconds: 3,
      terminationSeconds: 2,
      ...(runtime === undefined ? {} : { runtime: runtime({ api, clock }) }),
    },
    keepEvents: 'none',
  })
  const { views } = world
  const trace = openTrace(clock)
  const stopRecording = recordLocks(views, trace)
  const oracle = watchLocks({ views, isOn: world.kubelet.isOn })
  const ends: (() => void)[] = [stopRecording, () => oracle.stop()]
  const operators = openOperators({
    api: operatorApi,
    server,
    clock,
    random,
    guard,
    tell: trace.tell,
    settledAfterMs: 5_000,
    diesAtEvents: true,
  })

  async function seconds(count: number): Promise<void> {
    const end = clock.now() + count * 1_000
    while (clock.now() < end) {
      await clock.advance(Math.min(stepMs, end - clock.now()))
      oracle.look()
      operators.look()
    }
  }

  async function until(what: string, holds: () => boolean | Promise<boolean>, withinSeconds = 300): Promise<void> {
    const end = clock.now() + withinSeconds * 1_000
    while (!(await holds())) {
      if (clock.now() >= end) throw new Error(`not within ${withinSeconds} s: ${what}\n${trace.text()}`)
      await seconds(stepMs / 1_000)
    }
  }

  const statusOf = (name: string) => views.of(nodeDisruptions).get(name)?.status ?? {}
  const phaseOf = (name: string) => statusOf(name).phase ?? 'Pending'
  const ledger = () => {
    const parsed = parseLedger(views.of(disruptionLedgers).get(ledgerName))
    if (!parsed.known) throw new Error(parsed.why)
    return parsed.value ?? emptyLedger
  }

  return {
    api,
    server,
    async memberOfShop(name, rules) {
      const metadata = { namespace: shop, name }
      const group = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: true }
      const apiVersion = 'rbac.authorization.k8s.io/v1'
      const role = { apiVersion, kind: 'Role', metadata, rules }
      await api.create({ ...group, plural: 'roles', kind: 'Role' }, role)
      const subjects = [{ kind: 'ServiceAccount', name, namespace: shop }]
      const roleRef = { apiGroup: group.group, kind: 'Role', name }
      const binding = { apiVersion, kind: 'RoleBinding', metadata, subjects, roleRef }
      await api.create({ ...group, plural: 'rolebindings', kind: 'RoleBinding' }, binding)
      return server.as(serviceAccountUser(shop, name))
    },
    clock,
    world,
    views,
    trace,
    oracle,
    guard,
    seconds,
    until,
    operate: (options) => operators.operate({ isGuard: true, ...options }),
    newestOperator: operators.newest,
    async addStaying(name, namespace = shop) {
      const affinity = {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { labelSelector: { matchLabels: { app: name } }, topologyKey: 'kubernetes.io/hostname' },
          ],
        },
      }
      const set = statefulSet(name, {
        pod: { affinity, tolerations: patient },
        annotations: { 'cofferdam.io/skip-drain': 'true' },
        podManagementPolicy: 'Parallel',
      })
      await api.create(statefulSets, { ...set, metadata: { name, namespace } })
      await api.create(podDisruptionBudgets, { ...budget(name, { maxUnavailable: 1 }), metadata: { name, namespace } })
      await clock.advance(10_000)
    },
    async addLeaving(name, { namespace = shop, replicas = 2, maxUnavailable = 1 } = {}) {
      await api.create(deployments, { ...deployment(name, { replicas }), metadata: { name, namespace } })
      await api.create(podDisruptionBudgets, { ...budget(name, { maxUnavailable }), metadata: { name, namespace } })
      await clock.advance(10_000)
    },
    async request(name, spec) {
      await api.create(nodeDisruptions, {
        apiVersion: 'cofferdam.io/v1alpha1',
        kind: 'NodeDisruption',
        metadata: { name },
        spec: { intent: 'Reboot', honourSkipDrain: true, ...spec },
      })
    },
    async breakGlass(name, glass) {
      const body = { metadata: { annotations: { [breakGlassAnnotation]: formatBreakGlass(glass) } } }
      await api.patch(nodeDisruptions, { name }, { type: 'merge', body })
    },
    reach: (name, phase, withinSeconds) => until(`${name} is ${phase}`, () => phaseOf(name) === phase, withinSeconds),
    phaseOf,
    statusOf,
    blockersOf: (name) => (statusOf(name).blockedBy ?? []).map(({ object, reason }) => `${object} ${reason}`),
    async lock(name, text) {
      const body = { metadata: { annotations: { [appLockAnnotation]: text ?? null } } }
      await api.patch(podDisruptionBudgets, { namespace: shop, name }, { type: 'merge', body })
    },
    rebootForSeconds: (down) => void ends.push(startRebooter({ world, clock, tell: trace.tell }, down)),
    drain: (nodeName) => startDrain({ api, clock, tell: trace.tell }, nodeName),
    ledger,
    heldKeys: () => ledger().entries.map(({ key, state }) => `${key} ${state}`),
    isCordoned: (nodeName) => views.of(nodes).get(nodeName)?.spec?.unschedulable === true,
    podsOn: (nodeName) =>
      [...views.of(pods).values()]
        .filter(({ spec }) => spec.nodeName === nodeName)
        .map(({ metadata }) => metadata.name)
        .sort(),
    nodeOf: (pod) => views.of(pods).get(`${shop}/${pod}`)?.spec.nodeName ?? '',
    podOf(app, namespace = shop) {
      const found = [...views.of(pods).values()].find(
        ({ metadata }) => metadata.namespace === namespace && metadata.labels?.['app'] === app,
      )
      return found?.metadata.name ?? ''
    },
    budgets: () => [...views.of(podDisruptionBudgets).values()].map(budgetText).sort(),
    async told(name) {
      const { items } = await api.list(events)
      return items
        .filter(({ source, involvedObject }) => source?.component === 'cofferdam' && involvedObject.name === name)
        .sort((a: Event, b: Event) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion))
        .map(({ reason }) => reason ?? '')
    },
    async close() {
      await settled(clock, operators.stop())
      for (const end of ends) end()
      world.stop()
      server.stop()
    },
  }
}

function budgetText({ metadata, spec, status }: PodDisruptionBudget): string {
  const { namespace, name, annotations = {} } = metadata
  const { disruptionsAllowed = 0, currentHealthy = 0, disruptedPods = {} } = status ?? {}
  const own = Object.keys(annotations).filter((key) => key.startsWith('cofferdam.io/'))
  const gone = Object.keys(disruptedPods)
  const limit = `${spec.maxUnavailable ?? `at least ${spec.minAvailable}`}`
  const marks = [...own, ...gone.map((pod) => `without ${pod}`)].sort()
  return [`${namespace}/${name} (${limit}): ${disruptionsAllowed} of ${currentHealthy}`, ...marks].join(', ')
}

/** A lock as an owner writes it. */
export function lockText(clock: VirtualClock, forSeconds: number, holder = 'bob'): string {
  return JSON.stringify({ until: rfc3339(clock.now() + forSeconds * 1_000), holder, reason: 'rebalance' })
}
