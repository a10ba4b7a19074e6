import { longhornNamespace, longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import type { LonghornDescription } from '@cofferdam/simulator/world/longhorn/longhorn-description.ts'
import { type LonghornFixture, openLonghorn } from '@cofferdam/simulator/world/longhorn/testing/longhorn-fixture.ts'
import { installDefinitions } from '../../../ledger/store/testing/ledger-fixture.ts'
import type { ControllerName } from '../../../operator/controller-names.ts'
import { createMetrics } from '../../../operator/metrics.ts'
import { type Operator, startOperator } from '../../../operator/operator.ts'
import { type NodeDisruption, nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import { manageAnnotation } from '../domain/drain-settings.ts'

export interface LonghornDisruptionFixture extends LonghornFixture {
  readonly warned: unknown[]
  /** Each call is another process. */
  operate(options?: { readonly api?: KubeApi; readonly controllers?: readonly ControllerName[] }): Operator
  stopOperators(): Promise<void>
  request(name: string, nodeName: string, intent?: NodeDisruption['spec']['intent']): Promise<void>
  phaseOf(name: string): Promise<string>
  /** `Waiting: storage/longhorn-system/longhorn HeldByRequest`, with everything that stands in the way. */
  tell(name: string): Promise<string>
  blockedBy(name: string): Promise<NonNullable<NonNullable<NodeDisruption['status']>['blockedBy']>>
  close(): Promise<void>
}

/** A Longhorn, and an operator beside it that takes its nodes out on request. */
export async function openLonghornDisruptions(
  description: LonghornDescription,
  {
    nodeCount = 3,
    mode = 'hold',
    notes = {},
  }: {
    readonly nodeCount?: number
    readonly mode?: 'observe' | 'guide' | 'hold'
    /** More annotations of the setting. */
    readonly notes?: Readonly<Record<string, string>>
  } = {},
): Promise<LonghornDisruptionFixture> {
  const fixture = await openLonghorn({ ownDrainHandling: true, ...description }, { nodeCount })
  const { api, clock, seconds } = fixture
  await installDefinitions(api)
  const setting = { namespace: longhornNamespace, name: 'node-drain-policy' }
  const body = { metadata: { annotations: { ...notes, [manageAnnotation]: mode } } }
  await api.patch(longhornSettings, setting, { type: 'merge', body })
  const warned: unknown[] = []
  let running: Operator[] = []
  let processes = 0

  const statusOf = async (name: string) => (await api.get(nodeDisruptions, { name })).status
  async function stopOperators(): Promise<void> {
    const stopped = Promise.all(running.map((operator) => operator.stop()))
    running = []
    await seconds(30)
    await stopped
  }
  return {
    ...fixture,
    warned,
    operate(options = {}) {
      processes += 1
      const operator = startOperator({
        api: options.api ?? api,
        clock,
        random: seededRandom(100 + processes),
        log: { info() {}, warn: (facts: unknown) => warned.push(facts), error() {}, debug() {} } as never,
        metrics: createMetrics(),
        controllers: options.controllers ?? ['longhorn-drain', 'node-disruption', 'disruption-ledger'],
        dryRun: false,
      })
      running.push(operator)
      return operator
    },
    stopOperators,
    async request(name, nodeName, intent = 'Reboot') {
      await api.create(nodeDisruptions, {
        apiVersion: 'cofferdam.io/v1alpha1',
        kind: 'NodeDisruption',
        metadata: { name },
        spec: { nodeName, intent, honourSkipDrain: true },
      })
    },
    phaseOf: async (name) => (await statusOf(name))?.phase ?? 'Pending',
    async tell(name) {
      const status = await statusOf(name)
      const why = new Set((status?.blockedBy ?? []).map(({ object, reason }) => `${object} ${reason}`))
      return `${status?.phase ?? 'Pending'}${why.size === 0 ? '' : `: ${[...why].join(', ')}`}`
    },
    blockedBy: async (name) => (await statusOf(name))?.blockedBy ?? [],
    async close() {
      await stopOperators()
      fixture.stop()
    },
  }
}

/** Nodes with a copy of the volume `db` that lacks nothing. */
export async function wholeCopies({ replicasOf }: LonghornDisruptionFixture): Promise<string[]> {
  const whole = (await replicasOf('db')).filter(({ spec }) => spec?.healthyAt && !spec.failedAt)
  return whole.map(({ spec }) => spec?.nodeID ?? '').sort()
}
