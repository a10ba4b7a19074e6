import { hasReason } from '../../api/api-error.ts'
import type { KubeObject } from '../../api/kube-object.ts'
import { longhornNamespace, longhornSettings } from '../../api/longhorn.ts'
import { customResourceDefinitions, events, podDisruptionBudgets } from '../../api/resources.ts'
import { buildCustomResourceDefinitions } from '../../deploy/custom-resource-definitions.ts'
import { manageAnnotation } from '../../domain/longhorn-drain/drain-settings.ts'
import type { KubeApi } from '../../kube/kube-api.ts'
import { createMetrics } from '../../observability/metrics.ts'
import { startOperator } from '../../operator.ts'
import { seededRandom } from '../../runtime/random.ts'
import type { LonghornDescription } from '../../world/longhorn/longhorn-description.ts'
import { type LonghornStage, openLonghorn } from '../../world/longhorn/testing/longhorn-stage.ts'
import { changedApi } from '../../world/testing/story.ts'

export interface OperatedLonghorn extends LonghornStage {
  /** What the operator wrote, in order: `create poddisruptionbudgets/instance-manager-1`. Events are left out. */
  readonly written: string[]
  readonly warned: unknown[]
  /** Nodes whose instance managers are covered by a budget, sorted. */
  readonly guarded: () => Promise<string[]>
  /** Evicts the instance managers of the node; tells what the API server said. */
  readonly evict: (node: string) => Promise<'going' | 'refused'>
  readonly annotate: (value: string | null) => Promise<void>
  /** Events of our own about an object, as `Normal EvictionAutomatic`. */
  readonly told: (name: string) => Promise<string[]>
  readonly close: () => Promise<void>
}

export interface OperatedOptions {
  readonly nodeCount?: number
  readonly seed?: number
  /** Default: the setting is annotated before the operator starts. */
  readonly isOurs?: boolean
  readonly api?: (stage: LonghornStage) => Promise<KubeApi> | KubeApi
}

/** A Longhorn without drain handling of its own, and the operator beside it. */
export async function openOperatedLonghorn(
  description: LonghornDescription = {},
  { isOurs = true, ...options }: OperatedOptions = {},
): Promise<OperatedLonghorn> {
  const stage = await openLonghorn(description, options)
  const { api, clock, seconds } = stage
  const annotate = async (value: string | null) => {
    const body = { metadata: { annotations: { [manageAnnotation]: value } } }
    const key = { namespace: longhornNamespace, name: 'node-drain-policy' }
    await api.patch(longhornSettings, key, { type: 'merge', body: body as never })
  }
  for (const definition of buildCustomResourceDefinitions()) {
    await api.create(customResourceDefinitions, definition as unknown as KubeObject)
  }
  if (isOurs) await annotate('true')
  const written: string[] = []
  const warned: unknown[] = []
  const operator = startOperator({
    api: noted((await options.api?.(stage)) ?? api, written),
    clock,
    random: seededRandom(9),
    log: { info() {}, warn: (facts: unknown) => warned.push(facts), error() {}, debug() {} } as never,
    metrics: createMetrics(),
    controllers: ['longhorn-drain'],
    dryRun: false,
  })
  await seconds(30)
  return {
    ...stage,
    written,
    warned,
    annotate,
    async guarded() {
      const { items } = await api.list(podDisruptionBudgets, { namespace: longhornNamespace })
      return items
        .filter(({ metadata }) => !metadata.name.startsWith('csi-'))
        .map(({ spec }) => spec.selector?.matchLabels?.['longhorn.io/node'] ?? '')
        .sort()
    },
    async evict(node) {
      try {
        await stage.evictInstanceManagers(node)
        return 'going'
      } catch (error) {
        if (hasReason(error, 'TooManyRequests')) return 'refused'
        throw error
      }
    },
    told: async (name) =>
      (await stage.list(events))
        .filter(({ involvedObject, source }) => involvedObject.name === name && source?.component === 'cofferdam')
        .map(({ type, reason }) => `${type} ${reason}`),
    async close() {
      const stopped = operator.stop()
      await seconds(30)
      await stopped
      stage.stop()
    },
  }
}

function noted(api: KubeApi, written: string[]): KubeApi {
  const note = (verb: string, plural: string, name: string) => {
    if (plural !== 'events') written.push(`${verb} ${plural}/${name}`)
  }
  return changedApi(api, {
    create(type, object, options) {
      note('create', type.plural, object.metadata.name)
      return api.create(type, object, options)
    },
    update(type, object, options) {
      note('update', type.plural, object.metadata.name)
      return api.update(type, object, options)
    },
    patch(type, key, patch, options) {
      note('patch', type.plural, key.name)
      return api.patch(type, key, patch, options)
    },
    delete(type, key, options) {
      note('delete', type.plural, key.name)
      return api.delete(type, key, options)
    },
  })
}
