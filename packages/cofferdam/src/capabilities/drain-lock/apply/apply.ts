import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { entriesOf } from '../../../ledger/rules/ledger.ts'
import type { LedgerStore } from '../../../ledger/store/ledger-store.ts'
import { type NodeDisruption, nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import type { Takeovers } from '../controller/takeovers.ts'
import type { DisruptionBlocker, DisruptionDecision, DisruptionStep } from '../domain/decision.ts'
import { isLedgerStep, type LedgerStep, ledgerTasks, takeLedgerStep } from '../domain/ledger-step.ts'
import type { DisruptionRecord, DisruptionSnapshot } from '../domain/snapshot.ts'
import { lockBudget, unlockBudget } from './budgets.ts'
import { type CordonOrder, cordonNode, uncordonNode } from './cordon.ts'
import type { PodEvictor } from './evict.ts'
import { buildStatus, disruptionFinalizer, type RecordWords } from './record.ts'

export interface ApplyDisruptionPorts {
  readonly api: Pick<KubeApi, 'get' | 'update' | 'patch'>
  readonly clock: Clock
  readonly store: Pick<LedgerStore, 'change'>
  readonly evictor: PodEvictor
  readonly takeovers: Pick<Takeovers, 'note'>
}

export interface DisruptionToApply {
  readonly object: NodeDisruption
  readonly snapshot: DisruptionSnapshot
  readonly decision: DisruptionDecision
  readonly signal: AbortSignal
}

export interface AppliedDisruption {
  /** As it was last written; undefined when it was let go. */
  readonly object: NodeDisruption | undefined
  /** Every step was taken. */
  readonly isWhole: boolean
  /** What the API server said of pods that have to leave. */
  readonly blockers: readonly DisruptionBlocker[]
}

/**
 * Takes the steps of a decision, one after the other, up to the first that cannot be taken.
 *
 * Guarantees: the record is only written over the very record that was decided on.
 */
export async function applyDisruption(
  ports: ApplyDisruptionPorts,
  { object, snapshot, decision, signal }: DisruptionToApply,
): Promise<AppliedDisruption> {
  const { store, clock, api, evictor, takeovers } = ports
  const { request, holder, settings } = snapshot
  const { id: requestId } = request
  const cordon: CordonOrder = { nodeName: request.nodeName, nodeUid: nodeUidOf(snapshot), requestId }
  const highestEpoch = snapshot.ledger.known ? snapshot.ledger.value.nextEpoch - 1 : 0
  let current: NodeDisruption | undefined = object
  let blockers: readonly DisruptionBlocker[] = []

  const change = async (step: LedgerStep) => {
    const { isTaken, epoch } = await store.change(
      `${ledgerTasks[step.step]} for nodedisruption/${request.name}`,
      (ledger) => {
        const outcome = takeLedgerStep(ledger, step, { requestId, holder, now: timestamp(clock) })
        return { ledger: outcome.ledger, value: outcome }
      },
      signal,
    )
    if (epoch !== undefined) takeovers.note(requestId, epoch)
    return isTaken
  }

  const write = async (record: DisruptionRecord) => {
    const words = { ...decision, blockedBy: withServersWords(decision.blockedBy, blockers) }
    if (current !== undefined) current = await writeStatus(ports, current, { record, words }, signal)
  }

  async function take(step: DisruptionStep): Promise<boolean> {
    if (isLedgerStep(step)) return change(step)
    switch (step.step) {
      case 'record':
        await write(step.record)
        return true
      case 'lock': {
        const { budget, pods, untilMs, epoch } = step
        const reason = request.reason === '' ? `${request.nodeName} goes` : request.reason
        const hold = { requestId, request: `nodedisruption/${request.name}`, epoch, untilMs, reason }
        return lockBudget(api, { budget, pods, hold, mode: settings.mode }, signal)
      }
      case 'unlock':
        await unlockBudget(api, { budget: step.budget, requestId, epoch: highestEpoch, nowMs: clock.now() }, signal)
        return true
      case 'cordon':
        await cordonNode(api, cordon, signal)
        return true
      case 'uncordon':
        await uncordonNode(api, cordon, signal)
        return true
      case 'evict':
        blockers = await evictor.evict(step.pods, { requestId, epoch: step.epoch }, signal)
        return true
      case 'finish':
        if (current !== undefined) await dropFinalizer(api, current, signal)
        current = undefined
        return true
    }
  }

  try {
    for (const step of decision.steps) {
      if (signal.aborted || !(await take(step))) return { object: current, isWhole: false, blockers }
    }
    await write(decision.record)
  } catch (error) {
    // Somebody changed what we were about to: what is true now decides.
    if (!hasReason(error, 'Conflict')) throw error
    return { object: undefined, isWhole: false, blockers }
  }
  return { object: current, isWhole: true, blockers }
}

/** The ledger knows which node it is, though somebody edit the record. */
function nodeUidOf({ ledger, request, node }: DisruptionSnapshot): string {
  const entries = ledger.known ? entriesOf(ledger.value, request.id) : []
  const held = entries.find(({ key }) => key === `node/${request.nodeName}`)
  return held?.uid ?? request.record.nodeUid ?? node?.uid ?? ''
}

async function writeStatus(
  { api, clock }: ApplyDisruptionPorts,
  object: NodeDisruption,
  { record, words }: { readonly record: DisruptionRecord; readonly words: RecordWords },
  signal: AbortSignal,
): Promise<NodeDisruption> {
  const status = buildStatus(object, record, words, clock.now())
  if (isSameJson(status, object.status)) return object
  return api.update(nodeDisruptions, { ...object, status }, { subresource: 'status', signal })
}

const mostBlockers = 20

/** What the server said of an object counts more than what we made of its status. */
function withServersWords(
  seen: readonly DisruptionBlocker[],
  told: readonly DisruptionBlocker[],
): readonly DisruptionBlocker[] {
  if (told.length === 0) return seen
  const rest = seen.filter(({ object }) => !told.some((blocker) => blocker.object === object))
  return [...rest, ...told].slice(0, mostBlockers)
}

/** Before anything is held for a request, deleting it must wait for us. */
export function addFinalizer(
  api: Pick<KubeApi, 'patch'>,
  object: NodeDisruption,
  signal: AbortSignal,
): Promise<NodeDisruption> {
  return patchFinalizers(api, object, [...(object.metadata.finalizers ?? []), disruptionFinalizer], signal)
}

export async function dropFinalizer(
  api: Pick<KubeApi, 'patch'>,
  object: NodeDisruption,
  signal: AbortSignal,
): Promise<void> {
  const left = (object.metadata.finalizers ?? []).filter((each) => each !== disruptionFinalizer)
  try {
    await patchFinalizers(api, object, left, signal)
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
  }
}

function patchFinalizers(
  api: Pick<KubeApi, 'patch'>,
  { metadata: { name, uid = '', resourceVersion = '' } }: NodeDisruption,
  finalizers: readonly string[],
  signal: AbortSignal,
): Promise<NodeDisruption> {
  const body = { metadata: { uid, resourceVersion, finalizers: finalizers.length === 0 ? null : finalizers } }
  return api.patch(nodeDisruptions, { name }, { type: 'merge', body }, { signal })
}
