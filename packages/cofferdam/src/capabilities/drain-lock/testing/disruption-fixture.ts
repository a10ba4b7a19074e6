import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { deployments, nodes, podDisruptionBudgets, pods, statefulSets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import type { World } from '@cofferdam/simulator/world/start-world.ts'
import {
  budget,
  deployment,
  openWorld,
  type Scenario,
  statefulSet,
} from '@cofferdam/simulator/world/testing/scenario.ts'
import { installDefinitions } from '../../../ledger/store/testing/ledger-fixture.ts'
import type { ControllerName } from '../../../operator/controller-names.ts'
import { createMetrics, type Metrics } from '../../../operator/metrics.ts'
import { type Operator, startOperator } from '../../../operator/operator.ts'
import type { OperatorOptions } from '../../../operator/options.ts'
import { type NodeDisruption, nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import { holdAnnotation } from '../domain/budget-hold.ts'

export const patient = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1_200 },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1_200 },
] as const

export interface DisruptionFixture extends Scenario {
  readonly world: World
  readonly metrics: Metrics
  /** Each call is another process. */
  operate(options?: {
    readonly api?: KubeApi
    readonly controllers?: readonly ControllerName[]
    readonly drainLock?: OperatorOptions['drainLock']
    readonly dryRun?: boolean
  }): Operator
  stopOperators(): Promise<void>
  /** An application that stays on its nodes, one pod on each, with a budget of one. */
  addStaying(name: string, options?: { readonly replicas?: number }): Promise<void>
  /** An application that is evicted, with a budget if it says so. */
  addLeaving(name: string, options?: { readonly replicas?: number; readonly maxUnavailable?: number }): Promise<void>
  request(name: string, spec: Partial<NodeDisruption['spec']> & { readonly nodeName: string }): Promise<NodeDisruption>
  disruption(name: string): Promise<NodeDisruption>
  phaseOf(name: string): Promise<string>
  /** Waits until the request is in this phase. */
  until(name: string, phase: string, seconds?: number): Promise<void>
  nodeOf(pod: string): Promise<string>
  podsOn(node: string): Promise<string[]>
  isCordoned(node: string): Promise<boolean>
  /** `web: 1 of 3, 0 reserved`, with who holds it. */
  budgets(): Promise<string[]>
  close(): Promise<void>
}

export async function openDisruptionFixture({ nodeCount = 3, seed = 1 } = {}): Promise<DisruptionFixture> {
  const scenario = await openWorld({ seed, nodeCount, kubelet: { readySeconds: 1, terminationSeconds: 1 } })
  const { api, clock } = scenario
  await installDefinitions(api)
  await scenario.seconds(1)
  const metrics = createMetrics()
  let running: Operator[] = []
  let processes = 0

  const disruption = (name: string) => api.get(nodeDisruptions, { name })
  const phaseOf = async (name: string) => (await disruption(name)).status?.phase ?? 'Pending'

  async function stopOperators(): Promise<void> {
    const stopped = Promise.all(running.map((operator) => operator.stop()))
    running = []
    await clock.advance(30_000)
    await stopped
  }

  return {
    ...scenario,
    metrics,
    operate(options = {}) {
      processes += 1
      const operator = startOperator({
        api: options.api ?? api,
        clock,
        random: seededRandom(100 + processes),
        log: { info() {}, warn() {}, error() {}, debug() {} } as never,
        metrics,
        controllers: options.controllers ?? ['node-disruption', 'disruption-ledger'],
        dryRun: options.dryRun === true,
        ...(options.drainLock === undefined ? {} : { drainLock: options.drainLock }),
      })
      running.push(operator)
      return operator
    },
    stopOperators,
    async addStaying(name, { replicas = 3 } = {}) {
      const apart = {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { labelSelector: { matchLabels: { app: name } }, topologyKey: 'kubernetes.io/hostname' },
          ],
        },
      }
      const annotations = { 'cofferdam.io/skip-drain': 'true' }
      const pod = { affinity: apart, tolerations: patient }
      await api.create(statefulSets, statefulSet(name, { replicas, pod, annotations, podManagementPolicy: 'Parallel' }))
      await api.create(podDisruptionBudgets, budget(name, { maxUnavailable: 1 }))
      await scenario.seconds(10)
    },
    async addLeaving(name, { replicas = 3, maxUnavailable } = {}) {
      await api.create(deployments, deployment(name, { replicas }))
      if (maxUnavailable !== undefined) await api.create(podDisruptionBudgets, budget(name, { maxUnavailable }))
      await scenario.seconds(10)
    },
    request: (name, spec) =>
      api.create(nodeDisruptions, {
        apiVersion: 'cofferdam.io/v1alpha1',
        kind: 'NodeDisruption',
        metadata: { name },
        spec: { intent: 'Reboot', honourSkipDrain: true, ...spec },
      }),
    disruption,
    phaseOf,
    async until(name, phase, seconds = 300) {
      for (let waited = 0; waited < seconds; waited += 1) {
        if ((await phaseOf(name)) === phase) return
        await scenario.seconds(1)
      }
      const { status } = await disruption(name)
      throw new Error(`${name} did not become ${phase} in ${seconds} s: ${JSON.stringify(status)}`)
    },
    nodeOf: async (name) => (await api.get(pods, { namespace: 'default', name })).spec.nodeName ?? '',
    async podsOn(node) {
      const { items } = await api.list(pods, { fieldSelector: `spec.nodeName=${node}` })
      return items.map(({ metadata }) => metadata.name).sort()
    },
    isCordoned: async (name) => (await api.get(nodes, { name })).spec?.unschedulable === true,
    async budgets() {
      return (await api.list(podDisruptionBudgets)).items.map(budgetText)
    },
    async close() {
      await stopOperators()
      scenario.stop()
    },
  }
}

function budgetText({ metadata, status, spec }: PodDisruptionBudget): string {
  const { disruptionsAllowed = 0, currentHealthy = 0, disruptedPods = {} } = status ?? {}
  const reserved = Object.keys(disruptedPods).sort().join(',')
  const hold = metadata.annotations?.[holdAnnotation]
  const holder = hold === undefined ? '' : ` held by ${(JSON.parse(hold) as { request: string }).request}`
  const limit = `${spec.maxUnavailable ?? `at least ${spec.minAvailable}`}`
  return `${metadata.name} (${limit}): ${disruptionsAllowed} of ${currentHealthy}${reserved === '' ? '' : ` without ${reserved}`}${holder}`
}
