import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { longhornNamespace, longhornNodes, longhornSettings } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { groupedBy } from '../../../shared/grouped-by.ts'
import type { Permission } from '../../../shared/permission.ts'
import type { GuidanceStep } from '../domain/guidance-decision.ts'
import { explainLonghornStuck, observeLingering, stuckAfterMs } from '../domain/guidance-stuck.ts'
import type { LonghornObjects } from '../domain/parse-longhorn.ts'
import type { ObservedLonghorn } from '../domain/plan-budgets.ts'
import { drainPolicySetting } from '../domain/policy.ts'
import type { Seen } from '../domain/steps.ts'
import { findIdleMoves, isOverdue } from '../domain/stuck-moves.ts'
import type { LonghornViews } from '../observe/observe.ts'
import { type LonghornReports, nodeToDescribe } from '../report/report.ts'
import { collectFailure } from './collect-failure.ts'

export const longhornGuidePermissions: readonly Permission[] = [
  {
    group: 'longhorn.io',
    resource: 'settings',
    namespace: longhornNamespace,
    grantedBy: 'longhorn',
    names: [drainPolicySetting],
    verbs: ['patch'],
  },
  { group: 'longhorn.io', resource: 'nodes', namespace: longhornNamespace, grantedBy: 'longhorn', verbs: ['patch'] },
]

export interface LonghornGuidePorts {
  readonly api: Pick<KubeApi, 'patch'>
  readonly views: Pick<LonghornViews, 'settings' | 'nodes'>
  readonly reports: LonghornReports
}

/**
 * Changes the setting and the nodes of Longhorn, and changes them back. Reports each change. Returns what was refused; that stops no
 * other.
 *
 * Guarantees: what changed since it was seen is refused with 409, and judged again; replicas, budgets and statuses are
 * never written.
 */
export async function applyLonghornGuidance(
  ports: LonghornGuidePorts,
  changes: readonly (GuidanceStep & Seen)[],
  { objects, signal }: { readonly objects: LonghornObjects; readonly signal: AbortSignal },
): Promise<readonly unknown[]> {
  const { views, reports } = ports
  const failures: unknown[] = []
  for (const step of changes) {
    await collectFailure(failures, async () => {
      const version = await write(ports, step, { namespace: objects.namespace, signal })
      const about = (step.kind === 'setting' ? objects.settings : objects.nodes).find(
        ({ metadata }) => metadata.name === step.name,
      )
      if (step.reason !== undefined && about !== undefined) {
        await reports.events.record(about, { type: 'Normal', reason: step.reason, note: step.explanation })
      }
      if (version !== undefined) {
        await (step.kind === 'setting' ? views.settings : views.nodes).whenSeen(version, signal)
      }
    })
  }
  return failures
}

async function write(
  { api }: LonghornGuidePorts,
  { kind, name, annotations, value, spec, resourceVersion }: GuidanceStep & Seen,
  { namespace, signal }: { readonly namespace: string; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const body = {
    metadata: { annotations, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    ...(value === undefined ? {} : { value }),
    ...(spec === undefined ? {} : { spec }),
  }
  const type = (kind === 'setting' ? longhornSettings : longhornNodes) as ResourceType
  const patch = { type: 'merge', body: body as unknown as JsonObject } as const
  const written = await api.patch(type, { namespace, name }, patch, { signal })
  return written.metadata.resourceVersion
}

/** Records which nodes Longhorn holds although nothing does, and which moves it does not go on with; each once. */
export class StuckTeller {
  readonly #events: LonghornReports['events']
  #since: ReadonlyMap<string, number> = new Map()
  #idleSince: ReadonlyMap<string, number> = new Map()

  constructor({ events }: Pick<LonghornReports, 'events'>) {
    this.#events = events.scoped()
  }

  /** Returns when to reconcile again, where a node waits that is not stuck yet. */
  async report({ objects, snapshot, decision }: ObservedLonghorn): Promise<number | undefined> {
    this.#since = observeLingering(this.#since, snapshot, decision)
    const stuck = explainLonghornStuck(snapshot, decision, this.#since)
    await this.#events.recordAll(
      'nodes',
      stuck.map(({ node, reason, explanation, wayOut }) => ({
        slot: node,
        state: explanation,
        about: nodeToDescribe(objects, node),
        type: 'Warning',
        reason,
        note: `${explanation} ${wayOut}`,
      })),
    )
    const isOneIdle = await this.#reportMoves({ objects, snapshot, decision })
    return this.#since.size > stuck.length || isOneIdle ? stuckAfterMs / 1000 : undefined
  }

  /** One event for each node. Returns whether a move stands still that is not overdue yet. */
  async #reportMoves({ objects, snapshot, decision }: ObservedLonghorn): Promise<boolean> {
    const { nowMs } = snapshot
    const idle = findIdleMoves(snapshot, decision)
    this.#idleSince = new Map(idle.map(({ key }) => [key, this.#idleSince.get(key) ?? nowMs]))
    const overdue = idle.filter(({ key }) => isOverdue(this.#idleSince.get(key), nowMs))
    const byNode = groupedBy(overdue, ({ node }) => node)
    await this.#events.recordAll(
      'moves',
      [...byNode].map(([node, [first, ...more]]) => ({
        slot: node,
        state: first?.state ?? '',
        about: nodeToDescribe(objects, node),
        type: 'Warning',
        reason: 'LonghornStuck',
        note: `${first?.stuck.explanation}${more.length === 0 ? '' : ` And ${more.length} more.`} ${first?.stuck.wayOut}`,
      })),
    )
    return overdue.length < idle.length
  }

  forget(): void {
    this.#idleSince = new Map()
    this.#events.forget('moves')
    this.#since = new Map()
    this.#events.forget('nodes')
  }
}
