import type { AppLockPolicy } from '../../../ledger/rules/app-lock.ts'
import type { AppLockRecord } from '../../../ledger/rules/app-lock-record.ts'
import { parseBreakGlass } from '../../../ledger/rules/break-glass.ts'
import type { DrainLockSettings } from '../../../ledger/rules/drain-lock-settings.ts'
import type { Ledger } from '../../../ledger/rules/ledger.ts'
import { breakGlassAnnotation } from '../../../shared/break-glass-annotation.ts'
import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import type { Observed } from '../../../shared/observed.ts'
import type { StorageFacts } from '../../../shared/storage-facts.ts'
import { parseRequest } from '../apply/record.ts'
import type { DisruptionWarning } from '../domain/decision.ts'
import type { LimitFacts } from '../domain/maintenance-limits.ts'
import type { ResponderFacts } from '../domain/responder-facts.ts'
import type { DisruptionSnapshot, PodFacts, RequestView } from '../domain/snapshot.ts'
import type { HoldableBudget, HostedPod, HostNode } from './objects.ts'
import { seeBudgets } from './see-budgets.ts'

/** All that a snapshot is made of, as it was read. */
export interface SnapshotParts {
  readonly nowMs: number
  /** This process, as others know it. */
  readonly identity: string
  readonly object: NodeDisruption
  readonly node: HostNode | undefined
  /** The pods on the node, in the order of their names. */
  readonly hosted: readonly HostedPod[]
  /** The same list whenever it is asked for, as long as nothing was read again. */
  readonly budgetsIn: (namespace: string) => readonly HoldableBudget[]
  readonly ledger: Observed<Ledger>
  readonly storage: readonly StorageFacts[]
  readonly limits: Observed<readonly LimitFacts[]>
  readonly settings: DrainLockSettings
  readonly appLocks: AppLockPolicy
  readonly responders?: ResponderFacts
}

export interface ObservedDisruption extends DisruptionSnapshot {
  /** Annotations that cannot be used: they block nothing, and are reported to the requester. */
  readonly faults: readonly DisruptionWarning[]
}

/** The one builder of snapshots: whoever follows one request and whoever plans thousands of nodes read in different ways, and see the same. */
export function buildSnapshot(parts: SnapshotParts): ObservedDisruption {
  const { nowMs, identity, object, node, hosted, budgetsIn, ledger, storage, limits, settings, responders } = parts
  const request = withOwnCordon(parseRequest(object), node)
  const records = ledger.known ? ledger.value.appLocks : noRecords
  const { budgets, uidsOf } = seeBudgets(hosted, { request, budgetsIn, records, policy: parts.appLocks, nowMs })
  return {
    nowMs,
    holder: `${identity} for nodedisruption/${request.name}`,
    request,
    node,
    pods: hosted.map((pod, at) => podFacts(pod, uidsOf[at] as readonly string[])),
    budgets: budgets.map(({ facts }) => facts),
    ledger,
    storage,
    limits,
    settings,
    ...(responders === undefined ? {} : { responders }),
    faults: [...requestFaults(object), ...budgets.flatMap(({ faults }) => faults)],
  }
}

const noRecords: readonly AppLockRecord[] = []

function requestFaults({ metadata: { name, annotations = {} } }: NodeDisruption): DisruptionWarning[] {
  const { problem } = parseBreakGlass(annotations[breakGlassAnnotation])
  return problem === undefined ? [] : [{ object: `nodedisruption/${name}`, says: problem }]
}

/** The mark on the node says whose cordon it is, whatever we had meant to do and whatever was made of the record. */
function withOwnCordon(request: RequestView, node: HostNode | undefined): RequestView {
  const { record, name, id } = request
  if (node?.isCordoned !== true) return request
  const own = `nodedisruption/${name}`
  const isMarked = node.cordonedBy === id
  const isOnRecord = record.cordonedBy === own
  if (isMarked === isOnRecord || (isMarked && record.cordonedBy !== undefined)) return request
  return { ...request, record: { ...record, cordonedBy: isMarked ? own : 'another user' } }
}

const cephDaemons: ReadonlyMap<string | undefined, NonNullable<PodFacts['cephDaemon']>> = new Map([
  ['rook-ceph-osd', 'osd'],
  ['rook-ceph-mon', 'mon'],
  ['rook-ceph-mgr', 'mgr'],
])

/** Field by field: of many pods, leaving some out of all is slow. */
function podFacts(pod: HostedPod, budgetUids: readonly string[]): PodFacts {
  const { namespace, name, uid, kind, isReady, isLeaving, wantsToStay, toleratesMs, losses, leaving, responders } = pod
  const cephDaemon = cephDaemons.get(pod.labels['app'])
  const facts = { namespace, name, uid, kind, isReady, isLeaving, wantsToStay, toleratesMs, losses, budgetUids }
  if (leaving === undefined && responders === undefined && cephDaemon === undefined) return facts
  return { ...facts, ...(leaving && { leaving }), ...(responders && { responders }), ...(cephDaemon && { cephDaemon }) }
}
