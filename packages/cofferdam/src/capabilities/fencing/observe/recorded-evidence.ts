import type { MachineDisruptionBudget } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { Attendance } from '../../../shared/attendance.ts'
import { nameOf } from '../../../shared/ceph-trust/named-clusters.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import type { Reason } from '../../../shared/reasons.ts'
import { recordNotes } from '../../../shared/record-notes.ts'
import type { StorageView } from '../../../shared/storage-view.ts'
import { machineBudgetNames } from '../domain/budget-name.ts'
import { clusterId, fenceLabelKeys, fenceLabelValue } from '../domain/fence-labels.ts'
import { marks } from '../domain/marks.ts'
import { parseMachine } from '../domain/parse-machine.ts'
import { parseFencingSettings } from '../domain/settings.ts'
import type { CephEvidence, FencedOsd } from '../domain/snapshot.ts'
import type { FencingViews } from './observe.ts'

/** What is written down where everybody can read it. */
export interface FencingRecord {
  readonly nowMs: number
  readonly views: Pick<FencingViews, 'clusters' | 'budgets' | 'openshiftMachines' | 'clusterApiMachines'>
  /** What ceph-drain wrote down. */
  readonly storage: readonly StorageView[]
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
export function recordedEvidence(
  record: FencingRecord,
): (cluster: CephCluster, osds: readonly FencedOsd[]) => Observed<CephEvidence> {
  const { nowMs, attendance, views, storage, cordoned } = record
  const names = [...views.clusters.list()].map(nameOf)
  const keys = fenceLabelKeys(names)
  const budgetNames = machineBudgetNames(names)
  const machines = [
    ...[...views.openshiftMachines.list()].map((machine) => parseMachine(machine, 'openshift')),
    ...[...views.clusterApiMachines.list()].map((machine) => parseMachine(machine, 'cluster-api')),
  ]
  return (cluster, osds) => {
    const name = nameOf(cluster)
    const id = clusterId(name)
    const { budgetNamespace } = parseFencingSettings(cluster)
    const budget = views.budgets.get({ namespace: budgetNamespace, name: budgetNames.get(id) ?? '' })
    if (attendance.isAttended === false) return unknown('no operator is running that would poll it')
    if (attendance.isAttended === undefined)
      return unknown('only the operator polls it, and it is not known whether one runs')
    if (budget === undefined) return unknown('only the operator polls it, and it has created no budget yet')
    const labelKey = keys.get(id) as string
    const labelled = new Set(
      machines.flatMap(({ labels, nodeName }) => (labels[labelKey] === fenceLabelValue ? (nodeName ?? []) : [])),
    )
    const isUp = ({ nodeName }: FencedOsd) => nodeName.known && labelled.has(nodeName.value)
    const drains = storage.find((view) => view.namespace === name.namespace && view.name === name.name)
    return known({
      polledAtMs: nowMs,
      isClean: recordedCleanness(drains, cordoned, budget),
      upOsds: new Set(osds.filter(isUp).map(({ id: osd }) => osd)),
    })
  }
}

function recordedCleanness(
  storage: StorageView | undefined,
  cordoned: ReadonlySet<string>,
  budget: MachineDisruptionBudget,
): Observed<boolean> {
  const { annotations = {}, generation = 0 } = budget.metadata
  const reason = annotations[recordNotes.reason]
  const isCurrent = (budget.status?.observedGeneration ?? -1) >= generation
  if (budget.spec?.maxUnavailable === 1 && isCurrent) return known(true)
  // A fence that is on record decides whatever the data is like.
  if ((annotations[marks.fences] ?? '') !== '') return known(false)
  if (Object.keys(budget.status?.disruptedMachines ?? {}).length > 0) return known(false)
  if (isAmong(notClean, reason)) return known(false)
  if (reason === undefined && storage !== undefined && isHurt(storage, cordoned)) return known(false)
  if (isAmong(clean, reason)) return known(true)
  const said = annotations[recordNotes.explanation] ?? storage?.explanation
  return unknown(
    `only the operator polls Ceph; ${said === undefined ? 'its budget lets no machine go' : `it said: ${said.replace(/\.$/, '')}`}`,
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
