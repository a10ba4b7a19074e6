import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { longhornNamespace, longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { customResourceDefinitions, events, nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import type { LonghornDescription } from '@cofferdam/simulator/world/longhorn/longhorn-description.ts'
import { type LonghornFixture, openLonghorn } from '@cofferdam/simulator/world/longhorn/testing/longhorn-fixture.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'
import { buildCustomResourceDefinitions } from '../../../deploy/custom-resource-definitions.ts'
import type { ControllerName } from '../../../operator/controller-names.ts'
import { createMetrics } from '../../../operator/metrics.ts'
import { startOperator } from '../../../operator/operator.ts'
import { buildAttempt, evictionAttemptedAnnotation } from '../../drain-detection/domain/attempt.ts'
import { byWriting } from './by-writing.ts'

export interface OperatedLonghorn extends LonghornFixture {
  /** What operators wrote, in order: `create poddisruptionbudgets/instance-manager-1`. Without events and Kubernetes' nodes. */
  readonly written: string[]
  readonly warned: unknown[]
  /** Nodes whose instance managers are covered by a budget, sorted. */
  readonly guarded: () => Promise<string[]>
  /** Nodes whose instance managers a budget of ours holds, sorted. */
  readonly held: () => Promise<string[]>
  /** Evicts the instance managers of the node; tells what the API server said. Without the guard, two budgets are an error. */
  readonly evict: (node: string) => Promise<'going' | 'refused' | 'error'>
  /** Writes the annotation `cofferdam.io/manage` of the setting, or another one that is named without our prefix. */
  readonly annotate: (value: string | null, name?: string) => Promise<void>
  /** What the eviction guard writes on a Kubernetes node when somebody asks for the eviction of one of its pods. */
  readonly attempt: (node: string) => Promise<void>
  /** Starts an operator; the stage ends it. */
  readonly operate: (how: { readonly api: KubeApi; readonly controllers: readonly ControllerName[] }) => void
  /** Events of our own about an object, as `Normal EvictionAutomatic`. */
  readonly told: (name: string) => Promise<string[]>
  readonly close: () => Promise<void>
}

export interface OperatedOptions {
  readonly nodeCount?: number
  readonly seed?: number
  /** Default: the setting is annotated before the operator starts. */
  readonly isOurs?: boolean
  /** Of the setting `node-drain-policy`, without our prefix. */
  readonly notes?: Readonly<Record<string, string>>
  /** Default: longhorn-drain alone; none: no operator is started yet. */
  readonly controllers?: readonly ControllerName[]
  readonly api?: (fixture: LonghornFixture) => Promise<KubeApi> | KubeApi
}

/** A Longhorn as released, and the operator beside it. */
export async function openOperatedLonghorn(
  description: LonghornDescription = {},
  { isOurs = true, notes = {}, controllers = ['longhorn-drain'], ...options }: OperatedOptions = {},
): Promise<OperatedLonghorn> {
  const fixture = await openLonghorn({ ownDrainHandling: true, ...description }, options)
  const { api, clock, seconds } = fixture
  const annotate = async (value: string | null, name = 'manage') => {
    const body = { metadata: { annotations: { [`cofferdam.io/${name}`]: value } } }
    const key = { namespace: longhornNamespace, name: 'node-drain-policy' }
    await api.patch(longhornSettings, key, { type: 'merge', body: body as never })
  }
  for (const definition of buildCustomResourceDefinitions()) {
    await api.create(customResourceDefinitions, definition as unknown as KubeObject)
  }
  if (isOurs) await annotate('hold')
  for (const [name, value] of Object.entries(notes)) await annotate(value, name)
  const written: string[] = []
  const warned: unknown[] = []
  const operators: { stop(): Promise<unknown> }[] = []
  const operate: OperatedLonghorn['operate'] = (how) => {
    const log = { info() {}, warn: (facts: unknown) => warned.push(facts), error() {}, debug() {} } as never
    const ports = { clock, random: seededRandom(9), log, metrics: createMetrics(), dryRun: false }
    operators.push(startOperator({ ...ports, api: noted(how.api, written), controllers: how.controllers }))
  }
  if (controllers.length > 0) operate({ api: (await options.api?.(fixture)) ?? api, controllers })
  await seconds(30)
  return {
    ...fixture,
    written,
    warned,
    annotate,
    operate,
    async attempt(node) {
      const attempt = buildAttempt({ by: 'kubectl', atMs: clock.now() })
      const body = { metadata: { annotations: { [evictionAttemptedAnnotation]: attempt } } }
      await api.patch(nodes, { name: node }, { type: 'merge', body })
    },
    async guarded() {
      const { items } = await api.list(podDisruptionBudgets, { namespace: longhornNamespace })
      return items
        .filter(({ metadata }) => !metadata.name.startsWith('csi-'))
        .map(({ spec }) => spec.selector?.matchLabels?.['longhorn.io/node'] ?? '')
        .sort()
    },
    async held() {
      const { items } = await api.list(podDisruptionBudgets, { namespace: longhornNamespace })
      return items
        .filter(({ metadata }) => metadata.name.startsWith('cofferdam-hold-'))
        .map(({ spec }) => spec.selector?.matchLabels?.['longhorn.io/node'] ?? '')
        .sort()
    },
    async evict(node) {
      try {
        await fixture.evictInstanceManagers(node)
        return 'going'
      } catch (error) {
        if (hasReason(error, 'TooManyRequests')) return 'refused'
        if (String(error).includes('more than one PodDisruptionBudget')) return 'error'
        throw error
      }
    },
    told: async (name) =>
      (await fixture.list(events))
        .filter(({ involvedObject, source }) => involvedObject.name === name && source?.component === 'cofferdam')
        .sort(byWriting)
        .map(({ type, reason }) => `${type} ${reason}`),
    async close() {
      const stopped = operators.map((operator) => operator.stop())
      await seconds(30)
      await Promise.all(stopped)
      fixture.stop()
    },
  }
}

function noted(api: KubeApi, written: string[]): KubeApi {
  const note = (verb: string, { group, plural }: ResourceType, name: string) => {
    if (plural !== 'events' && `${group}/${plural}` !== '/nodes') written.push(`${verb} ${plural}/${name}`)
  }
  return changedApi(api, {
    create(type, object, options) {
      note('create', type as ResourceType, object.metadata.name)
      return api.create(type, object, options)
    },
    update(type, object, options) {
      note('update', type as ResourceType, object.metadata.name)
      return api.update(type, object, options)
    },
    patch(type, key, patch, options) {
      note('patch', type as ResourceType, key.name)
      return api.patch(type, key, patch, options)
    },
    delete(type, key, options) {
      note('delete', type as ResourceType, key.name)
      return api.delete(type, key, options)
    },
  })
}
