import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { longhornNamespace, longhornNodes, longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { customResourceDefinitions, events, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import type { LonghornDescription } from '@cofferdam/simulator/world/longhorn/longhorn-description.ts'
import { type LonghornFixture, openLonghorn } from '@cofferdam/simulator/world/longhorn/testing/longhorn-fixture.ts'
import { changedApi } from '@cofferdam/simulator/world/testing/scenario.ts'
import { buildCustomResourceDefinitions } from '../../../deploy/custom-resource-definitions.ts'
import { createMetrics } from '../../../operator/metrics.ts'
import { startOperator } from '../../../operator/operator.ts'
import { manageAnnotation } from '../domain/drain-settings.ts'
import { byWriting } from './by-writing.ts'

export interface GuidedLonghorn extends LonghornFixture {
  /** What operators wrote, in order: `patch settings/node-drain-policy value`. Events are left out. */
  readonly written: string[]
  /** Starts an operator; stops it with what it gives back. */
  readonly operate: (api?: KubeApi) => () => Promise<void>
  /** Annotations of the setting `node-drain-policy`, with our prefix added. */
  readonly annotate: (notes: Readonly<Record<string, string | null>>) => Promise<void>
  /** What a drain looks like once the eviction guard has seen an eviction of the node. */
  readonly markDrained: (node: string, on?: boolean) => Promise<void>
  /** Evicts the instance managers of the node; tells what the API server said. */
  readonly evict: (node: string) => Promise<'going' | 'refused'>
  /** The setting, and each node that is not as a node is by default, with what we wrote on them. */
  readonly levers: () => Promise<readonly string[]>
  /** Reasons of our own events about an object, in order. */
  readonly told: (name: string) => Promise<string[]>
}

/** A Longhorn that decides drains itself, as a real one does, with a setting that asks for a guide. */
export async function openGuidedLonghorn(
  description: LonghornDescription,
  notes: Readonly<Record<string, string | null>>,
): Promise<GuidedLonghorn> {
  const fixture = await openLonghorn({ ownDrainHandling: true, ...description })
  const { api, clock, seconds } = fixture
  const { namespace = longhornNamespace } = description
  for (const definition of buildCustomResourceDefinitions()) {
    await api.create(customResourceDefinitions, definition as unknown as KubeObject)
  }
  const annotate: GuidedLonghorn['annotate'] = async (more) => {
    const annotations = Object.fromEntries(Object.entries(more).map(([key, value]) => [`cofferdam.io/${key}`, value]))
    const key = { namespace, name: 'node-drain-policy' }
    await api.patch(longhornSettings, key, { type: 'merge', body: { metadata: { annotations } } })
  }
  await annotate({ [manageAnnotation.replace('cofferdam.io/', '')]: 'guide', ...notes })
  const written: string[] = []
  return {
    ...fixture,
    written,
    annotate,
    operate(line = api) {
      const operator = startOperator({
        api: noted(line, written),
        clock,
        random: seededRandom(9),
        log: { info() {}, warn() {}, error() {}, debug() {} } as never,
        metrics: createMetrics(),
        controllers: ['longhorn-drain'],
        dryRun: false,
      })
      return async () => {
        const stopped = operator.stop()
        await seconds(30)
        await stopped
      }
    },
    async markDrained(name, on = true) {
      const node = await api.get(nodes, { name })
      const others = (node.status?.conditions ?? []).filter(({ type }) => type !== 'DrainInProgress')
      const conditions = [...others, { type: 'DrainInProgress', status: on ? ('True' as const) : ('False' as const) }]
      const marked: Node = { ...node, status: { ...node.status, conditions } }
      await api.update(nodes, marked, { subresource: 'status' })
    },
    async evict(node) {
      try {
        await fixture.evictInstanceManagers(node)
        return 'going'
      } catch (error) {
        if (hasReason(error, 'TooManyRequests')) return 'refused'
        throw error
      }
    },
    async levers() {
      const setting = await api.get(longhornSettings, { namespace, name: 'node-drain-policy' })
      const ours = await api.list(longhornNodes, { namespace })
      const changed = ours.items.flatMap((node) => {
        const { evictionRequested, allowScheduling } = node.spec?.disks?.['default-disk'] ?? {}
        const asked = node.metadata.annotations?.['cofferdam.io/asked']
        const isPlain = evictionRequested === false && allowScheduling === true && asked === undefined
        const facts = `${node.metadata.name} evict=${evictionRequested} schedule=${allowScheduling}`
        return isPlain ? [] : [`${facts}${asked === undefined ? '' : ` asked=${asked}`}`]
      })
      const restores = setting.metadata.annotations?.['cofferdam.io/restores']
      return [`${setting.value}${restores === undefined ? '' : ` restores ${restores}`}`, ...changed]
    },
    told: async (name) =>
      (await fixture.list(events))
        .filter(({ involvedObject, source }) => involvedObject.name === name && source?.component === 'cofferdam')
        .sort(byWriting)
        .map(({ reason }) => reason ?? ''),
  }
}

/** With the parts of the object that are written. */
function noted(api: KubeApi, written: string[]): KubeApi {
  const note = (verb: string, plural: string, name: string) => {
    if (plural !== 'events' && plural !== 'leases') written.push(`${verb} ${plural}/${name}`)
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
      const body = patch.body as Readonly<Record<string, unknown>>
      const spec = Object.keys((body['spec'] ?? {}) as object)
      const parts = Object.keys(body).flatMap((part) =>
        part === 'metadata' ? [] : part === 'spec' ? spec.map((field) => `spec.${field}`) : [part],
      )
      note('patch', type.plural, [key.name, ...parts].join(' '))
      return api.patch(type, key, patch, options)
    },
    delete(type, key, options) {
      note('delete', type.plural, key.name)
      return api.delete(type, key, options)
    },
  })
}
