import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { EvictionResult } from '../apply/evict.ts'
import { reasonOnRecord } from '../apply/record.ts'
import type { DisruptionDecision } from '../domain/decision.ts'
import type { NodeFacts } from '../domain/snapshot.ts'

/** Where news of disruptions goes. */
export interface DisruptionReports {
  /** Tells an Event. Never throws: news is not worth a failed reconcile. */
  event(
    about: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>,
    news: { readonly type: 'Normal' | 'Warning'; readonly reason: Reason; readonly note: string },
  ): Promise<void>
  countEviction(result: EvictionResult): void
  /** How long a request waited until its node was allowed to go. */
  observeWait(seconds: number): void
}

const warnings: ReadonlySet<Reason> = new Set([
  'BreakGlass',
  'DeadlinePassed',
  'FellBack',
  'LedgerLost',
  'LedgerUnknown',
  'LocksBroken',
  'NodeReplaced',
  'NodeUnknown',
  'RightsMissing',
])

/** What the people who look at the node want to hear of. */
const aboutNode: ReadonlySet<Reason> = new Set([
  'BreakGlass',
  'DeadlinePassed',
  'DisruptionCancelled',
  'DisruptionCompleted',
  'IntentWritten',
  'LocksBroken',
  'NodeMayGo',
])

/** Between two requests that take turns in waiting for each other, the same words would come again and again. */
const notAgainMs = 300_000

/** Tells what changed since it was last told, and nothing else. */
export class DisruptionReporter {
  readonly #reports: DisruptionReports
  readonly #clock: Pick<Clock, 'now'>
  readonly #told = new Map<string, { reason: string | undefined; readonly at: Map<string, number> }>()

  constructor(reports: DisruptionReports, clock: Pick<Clock, 'now'>) {
    this.#reports = reports
    this.#clock = clock
  }

  async report(
    object: NodeDisruption,
    node: NodeFacts | undefined,
    { reason, explanation }: Pick<DisruptionDecision, 'reason' | 'explanation'>,
  ): Promise<void> {
    const id = object.metadata.uid ?? ''
    const told = this.#told.get(id) ?? { reason: reasonOnRecord(object), at: new Map<string, number>() }
    this.#told.set(id, told)
    if (told.reason === reason) return
    told.reason = reason
    const nowMs = this.#clock.now()
    const last = told.at.get(reason)
    if (last !== undefined && nowMs < last + notAgainMs) return
    told.at.set(reason, nowMs)
    const news = { type: warnings.has(reason) ? 'Warning' : 'Normal', reason, note: explanation } as const
    await this.#reports.event(object, news)
    if (node === undefined || !aboutNode.has(reason)) return
    const about = { apiVersion: 'v1', kind: 'Node', metadata: { name: node.name, uid: node.uid } }
    await this.#reports.event(about, news)
  }

  forget(id: string): void {
    this.#told.delete(id)
  }
}
