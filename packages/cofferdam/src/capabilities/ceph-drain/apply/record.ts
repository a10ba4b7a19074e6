import { ApiError, hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import { configMaps } from '@cofferdam/kubernetes/api/resources.ts'
import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { foreignPartOf, problemsText, shortExplanation } from '../../../shared/record-limits.ts'
import { recordNotes as notes } from '../../../shared/record-notes.ts'
import { type RecordOwner, recordOwners } from '../../../shared/record-owner.ts'
import { buildCephFacts } from '../domain/ceph-facts.ts'
import { buildDomainRecord } from '../domain/domain-record.ts'
import type { DrainRecord, RecordChange } from '../domain/drain-record.ts'
import { buildDrainState, isStateKey, parseDrainState, type RecordRelease, stateMapName } from '../domain/state-map.ts'

export const recordName = stateMapName
/** Where the answers stand while another operator has the budgets, and the state map with them. */
export const observedName = 'cofferdam-ceph-drain'

/** What stands in for a record that cannot be read: nothing is remembered, so nothing may be released. */
export function unreadRecord(place: Pick<DrainRecord, 'namespace' | 'name'>, error: unknown): DrainRecord {
  return { ...recordOf(place, undefined), unread: error }
}

export async function readRecord(
  api: Pick<KubeApi, 'get'>,
  { namespace, name }: Pick<DrainRecord, 'namespace' | 'name'>,
  signal: AbortSignal,
): Promise<DrainRecord> {
  let configMap: ConfigMap | undefined
  try {
    configMap = await api.get(configMaps, { namespace, name }, { signal })
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
  }
  return recordOf({ namespace, name }, configMap)
}

function recordOf(
  { namespace, name }: Pick<DrainRecord, 'namespace' | 'name'>,
  configMap: ConfigMap | undefined,
): DrainRecord {
  const annotations = configMap?.metadata.annotations ?? {}
  return {
    namespace,
    name,
    configMap,
    state: parseDrainState(configMap?.data),
    reason: annotations[notes.reason],
    silentSince: parseRfc3339(annotations[notes.silentSince] ?? ''),
  }
}

/**
 * Writes the record if it differs, as a compare-and-swap on what was read; returns what is stored then.
 *
 * Guarantees: what is written fits, however many objects have problems and whatever others put beside it.
 */
export async function writeRecord(
  api: Pick<KubeApi, 'create' | 'update'>,
  record: DrainRecord,
  change: RecordChange & { readonly now: string; readonly owner: RecordOwner },
  signal: AbortSignal,
): Promise<DrainRecord> {
  const { configMap, namespace, name } = record
  if (record.unread !== undefined) throw record.unread
  // Notes would be taken still, and the state that has to follow them would not: nothing may begin that cannot be remembered.
  if (configMap?.immutable === true && change.state !== undefined) {
    throw new ApiError('Invalid', `configmap ${namespace}/${name} is immutable`)
  }
  const foreign = foreignPartOf(configMap, isStateKey)
  // Where nothing must survive the data is not needed: it may be locked, and annotations can still be written.
  const data =
    change.state === undefined ? (configMap?.data ?? {}) : { ...foreign.data, ...buildDrainState(change.state) }
  const binaryData = Object.entries(foreign.binaryData ?? {}).filter(([key]) => !Object.hasOwn(data, key))
  const annotations = { ...foreign.annotations, ...buildAnnotations(record, change) }
  const state = change.state ?? parseDrainState(configMap?.data)
  const hasForeign = [foreign.data, foreign.binaryData].some((part) => Object.keys(part ?? {}).length > 0)
  const mustOutlive = hasForeign || (state?.ownNoout ?? []).length > 0
  const owners = recordOwners(configMap?.metadata.ownerReferences, change.owner, { mustOutlive })
  const ownerReferences = owners === undefined ? {} : { ownerReferences: owners }
  if (configMap === undefined) {
    const created = await api.create(
      configMaps,
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace, name, annotations, ...ownerReferences },
        data,
      },
      { signal },
    )
    return recordOf(record, created)
  }
  const { ownerReferences: present, ...metadata } = configMap.metadata
  if (
    isSameJson(configMap.data ?? {}, data) &&
    isSameJson(metadata.annotations ?? {}, annotations) &&
    isSameJson(present ?? [], owners ?? [])
  ) {
    return record
  }
  const updated = await api.update(
    configMaps,
    {
      ...configMap,
      metadata: {
        ...metadata,
        annotations,
        ...ownerReferences,
        ...(foreign.labels === undefined ? {} : { labels: foreign.labels }),
      },
      data,
      ...(foreign.binaryData === undefined ? {} : { binaryData: Object.fromEntries(binaryData) }),
    },
    { signal },
  )
  return recordOf(record, updated)
}

/** Takes away what was written down while another operator had the budgets: from now on the state map is authoritative. */
export async function deleteObserved(
  api: Pick<KubeApi, 'delete'>,
  namespace: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await api.delete(configMaps, { namespace, name: observedName }, { signal })
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
  }
}

/** Takes what is ours off the record, as a compare-and-swap on what was read; where nothing else is there, the whole record. */
export async function releaseRecord(
  api: Pick<KubeApi, 'update' | 'delete'>,
  { configMap, namespace, name }: DrainRecord,
  { data, annotations }: RecordRelease,
  signal: AbortSignal,
): Promise<void> {
  if (configMap === undefined) return
  if (data !== undefined) {
    if (isSameJson(configMap.data ?? {}, data) && isSameJson(configMap.metadata.annotations ?? {}, annotations)) return
    const { ownerReferences: owners = [], ...metadata } = configMap.metadata
    const others = owners.filter(({ kind, controller }) => kind !== 'CephCluster' || controller === true)
    const ownerReferences = others.length === 0 ? {} : { ownerReferences: others }
    await api.update(
      configMaps,
      { ...configMap, metadata: { ...metadata, annotations, ...ownerReferences }, data },
      { signal },
    )
    return
  }
  const { uid, resourceVersion } = configMap.metadata
  const preconditions = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  }
  try {
    await api.delete(configMaps, { namespace, name }, { preconditions, signal })
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
  }
}

function buildAnnotations(
  { configMap, reason }: DrainRecord,
  change: RecordChange & { readonly now: string },
): Record<string, string> {
  const present = configMap?.metadata.annotations ?? {}
  const { decision, silentSince, cephLog, cephFacts, ownership, now } = change
  const problems = problemsText(decision.problems)
  const since = reason === decision.reason ? (present[notes.since] ?? now) : now
  return {
    [notes.reason]: decision.reason,
    [notes.explanation]: shortExplanation(decision.explanation),
    [notes.since]: since,
    ...(ownership === undefined ? {} : { [notes.budgets]: ownership.mode }),
    ...(ownership?.updates === undefined ? {} : { [notes.updates]: ownership.updates }),
    ...domainNotes(decision),
    ...(problems === '' ? {} : { [notes.problems]: problems }),
    ...(silentSince === undefined ? {} : { [notes.silentSince]: rfc3339(silentSince) }),
    ...(cephLog === undefined || decision.reason === 'HandedBack'
      ? {}
      : { [notes.cephLog]: shortExplanation(cephLog) }),
    ...(cephFacts === undefined || decision.reason === 'HandedBack'
      ? {}
      : { [notes.cephFacts]: buildCephFacts(present[notes.cephFacts], cephFacts, now) }),
  }
}

function domainNotes({ failureDomainType, domains }: RecordChange['decision']): Record<string, string> {
  if (domains.length === 0) return {}
  return { [notes.failureDomainType]: failureDomainType, [notes.domains]: buildDomainRecord(domains) }
}
