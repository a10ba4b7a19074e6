import type { MachineDisruptionBudget } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { Attendance } from '../../../shared/attendance.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import type { OsdView } from '../../../shared/parse-osd.ts'
import type { Reason } from '../../../shared/reasons.ts'
import { recordNotes } from '../../../shared/record-notes.ts'
import type { StorageView } from '../../../shared/storage-view.ts'
import { fenceLabelValue } from '../domain/fence-labels.ts'
import { marks } from '../domain/marks.ts'
import type { CephEvidence, MachineView } from '../domain/snapshot.ts'

/** What of one cluster's fencing is written down where everybody can read it. */
export interface FencingRecord {
  readonly nowMs: number
  /** The cluster's machine budget. */
  readonly budget: MachineDisruptionBudget | undefined
  readonly labelKey: string
  readonly machines: readonly MachineView[]
  readonly osds: readonly OsdView[]
  /** What ceph-drain wrote down. */
  readonly storage: StorageView | undefined
  readonly attendance: Attendance
  readonly cordoned: ReadonlySet<string>
}

const notClean: readonly Reason[] = ['FenceWaitsForData', 'DataWaits']
const clean: readonly Reason[] = ['FenceAllowed', 'FenceLabelsPending', 'StorageKeyHeld', 'LedgerUnknown']

/**
 * What the operator must have seen of Ceph, by what it wrote: whoever explains does not ask Ceph itself. The budget admits a
 * machine only on fresh and clean evidence, and a machine carries its label exactly while an OSD runs on it.
 *
 * Fails closed: what nobody keeps up to date, and what cannot be concluded, is not known.
 */
export function recordedEvidence(record: FencingRecord): Observed<CephEvidence> {
  const { nowMs, budget, attendance, labelKey, machines, osds } = record
  if (attendance.isAttended === false) return unknown('no operator is running that would ask it')
  if (attendance.isAttended === undefined)
    return unknown('only the operator asks it, and whether one runs is not known')
  if (budget === undefined) return unknown('only the operator asks it, and it has made no budget yet')
  const labelled = new Set(
    machines.flatMap(({ labels, nodeName }) => (labels[labelKey] === fenceLabelValue ? (nodeName ?? []) : [])),
  )
  const isUp = ({ nodeName }: OsdView) => nodeName.known && labelled.has(nodeName.value)
  return known({
    lookedAtMs: nowMs,
    isClean: recordedCleanness(record, budget),
    upOsds: new Set(osds.filter(isUp).map(({ id }) => id)),
  })
}

function recordedCleanness({ storage, cordoned }: FencingRecord, budget: MachineDisruptionBudget): Observed<boolean> {
  const { annotations = {}, generation = 0 } = budget.metadata
  const reason = annotations[recordNotes.reason]
  const isCurrent = (budget.status?.observedGeneration ?? -1) >= generation
  if (budget.spec?.maxUnavailable === 1 && isCurrent) return known(true)
  // A fence that is on record has the last word whatever the data is like.
  if ((annotations[marks.fences] ?? '') !== '') return known(false)
  if (Object.keys(budget.status?.disruptedMachines ?? {}).length > 0) return known(false)
  if (isAmong(notClean, reason)) return known(false)
  if (reason === undefined && storage !== undefined && isHurt(storage, cordoned)) return known(false)
  if (isAmong(clean, reason)) return known(true)
  const said = annotations[recordNotes.explanation] ?? storage?.explanation
  return unknown(
    `only the operator asks Ceph; ${said === undefined ? 'its budget lets no machine go' : `it said: ${said.replace(/\.$/, '')}`}`,
  )
}

/** While data is clean, ceph-drain opens a failure domain only for a node that is cordoned. */
function isHurt({ reason, openDomains, domains }: StorageView, cordoned: ReadonlySet<string>): boolean {
  if (isAmong(notClean, reason)) return true
  const open = domains.filter(({ domain }) => openDomains.includes(domain))
  return open.length > 0 && !open.some(({ nodes }) => nodes.some((node) => cordoned.has(node)))
}

function isAmong(reasons: readonly string[], reason: string | undefined): boolean {
  return reason !== undefined && reasons.includes(reason)
}
