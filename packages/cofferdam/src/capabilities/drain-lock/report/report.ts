import { foundNew } from '@cofferdam/kubernetes/runtime/event-memory.ts'
import type { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { EvictionResult } from '../apply/evict.ts'
import { reasonOnRecord } from '../apply/record.ts'
import type { DisruptionDecision } from '../domain/decision.ts'
import type { NodeFacts } from '../domain/snapshot.ts'

/** Where the events of disruptions go. */
export interface DisruptionReports {
  readonly events: EventRecorder<Reason>
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

/** What happens to the node is recorded there, and nowhere else: the record of the request has it in its conditions. */
const aboutNode: ReadonlySet<Reason> = new Set([
  'BreakGlass',
  'DeadlinePassed',
  'DisruptionCancelled',
  'DisruptionCompleted',
  'IntentWritten',
  'LocksBroken',
  'NodeMayGo',
])

/** Between two requests that alternately wait for each other, the same event would come again and again. */
const notAgainMs = 300_000

/** Records what changed since it was last recorded, and nothing else. */
export class DisruptionReporter {
  readonly #events: EventRecorder<Reason>

  constructor({ events }: Pick<DisruptionReports, 'events'>) {
    this.#events = events.scoped()
  }

  async report(
    object: NodeDisruption,
    node: Pick<NodeFacts, 'name' | 'uid'> | undefined,
    { reason, explanation }: Pick<DisruptionDecision, 'reason' | 'explanation'>,
  ): Promise<void> {
    const id = object.metadata.uid ?? ''
    const onRecord = reasonOnRecord(object)
    if (onRecord !== undefined) this.#events.assume({ group: id, state: onRecord })
    if (!this.#events.isChange({ group: id, state: reason })) return
    if (!this.#events.isChange({ group: id, slot: reason, state: reason, againAfterMs: notAgainMs })) return
    const event = { type: warnings.has(reason) ? 'Warning' : 'Normal', reason, note: explanation } as const
    const isAboutNode = node !== undefined && aboutNode.has(reason)
    const about = isAboutNode
      ? { apiVersion: 'v1', kind: 'Node', metadata: { name: node.name, uid: node.uid } }
      : object
    await this.#events.record(about, event, foundNew)
  }

  forget(id: string): void {
    this.#events.forget(id)
  }
}
