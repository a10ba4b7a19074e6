import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { Attendance } from '../../../shared/attendance.ts'
import type { CephFacts } from '../../../shared/ceph-facts.ts'
import { nameOf, notNamedText } from '../../../shared/ceph-trust/named-clusters.ts'
import { type Observed, unknown } from '../../../shared/observed.ts'
import type { Reason } from '../../../shared/reasons.ts'
import { recordNotes } from '../../../shared/record-notes.ts'
import type { StorageView } from '../../../shared/storage-view.ts'
import { parseCephFacts } from '../domain/ceph-facts.ts'
import { parseDomainRecord } from '../domain/domain-record.ts'
import { parseDrainState } from '../domain/state-map.ts'
import { blockedType } from './blocked-domain.ts'

/** A cluster that the operator's administrator has not named: whatever is written there, it holds nothing back. */
export function viewUnnamedStorage({ metadata }: Pick<CephCluster, 'metadata'>): StorageView {
  const reason: Reason = 'ClusterNotNamed'
  return {
    ...nameOf({ metadata }),
    source: 'none',
    reason,
    explanation: notNamedText,
    domains: [],
    openDomains: [],
    noout: [],
    problems: [],
  }
}

/** What the operator wrote down last about one cluster, and what of it cannot be read. */
export function viewRecordedStorage({
  cluster,
  record,
  observed,
  budgets,
  attendance,
}: {
  readonly cluster: Pick<CephCluster, 'metadata'>
  /** Rook's state map, which is ours where we have the budgets. */
  readonly record: ConfigMap | undefined
  /** What we wrote down while another operator has the budgets. */
  readonly observed: ConfigMap | undefined
  readonly budgets: readonly PodDisruptionBudget[]
  readonly attendance: Attendance
}): { readonly view: StorageView; readonly unread: readonly string[] } {
  const { namespace = '', name } = cluster.metadata
  const notes = (observed ?? record)?.metadata.annotations ?? {}
  const { openDomains, ownNoout } = parseDrainState(record?.data ?? {})
  const reason = notes[recordNotes.reason]
  const since = notes[recordNotes.since]
  const cephLog = notes[recordNotes.cephLog]
  const type =
    notes[recordNotes.failureDomainType] ??
    blockedType(budgets.filter(({ metadata }) => metadata.namespace === namespace))
  const text = notes[recordNotes.domains]
  const recorded = text === undefined ? undefined : parseDomainRecord(text)
  const facts = factsOf(notes)
  const undecided: Reason = 'StorageUndecided'
  return {
    view: {
      namespace,
      name,
      source: reason === undefined ? 'none' : 'record',
      reason: reason ?? undecided,
      explanation: notes[recordNotes.explanation] ?? 'nothing is recorded: no Cofferdam operator manages this cluster',
      ...(since === undefined ? {} : { since }),
      ...ownershipOf(notes),
      ...(reason === undefined ? {} : attendance),
      ...(type === undefined ? {} : { failureDomainType: type }),
      domains: recorded?.known ? recorded.value.answers : [],
      ...(recorded?.known ? { domainCounts: { total: recorded.value.total, held: recorded.value.held } } : {}),
      openDomains,
      noout: ownNoout,
      problems: (notes[recordNotes.problems] ?? '').split('; ').filter((problem) => problem !== ''),
      ...(cephLog === undefined ? {} : { cephLog }),
      ...(reason === undefined ? {} : { facts }),
    },
    unread: recorded === undefined || recorded.known ? [] : [`annotation ${recordNotes.domains}: ${recorded.why}`],
  }
}

function factsOf(notes: Readonly<Record<string, string>>): Observed<CephFacts> {
  const text = notes[recordNotes.cephFacts]
  if (text !== undefined) return parseCephFacts(text)
  return unknown(
    notes[recordNotes.silentSince] === undefined ? 'it is not recorded' : 'Ceph does not answer the operator',
  )
}

function ownershipOf(notes: Readonly<Record<string, string>>): Pick<StorageView, 'budgets' | 'updates'> {
  const { [recordNotes.budgets]: budgets, [recordNotes.updates]: updates } = notes
  return { ...(budgets === undefined ? {} : { budgets }), ...(updates === undefined ? {} : { updates }) }
}
