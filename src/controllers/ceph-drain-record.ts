import { hasReason } from '../api/api-error.ts'
import type { ConfigMap } from '../api/core.ts'
import { isSameJson } from '../api/json.ts'
import { configMaps } from '../api/resources.ts'
import type { CephDrainDecision } from '../domain/ceph-drain/decision.ts'
import { buildDomainRecord } from '../domain/ceph-drain/domain-record.ts'
import { recordNotes as notes } from '../domain/ceph-drain/record-notes.ts'
import { buildDrainState, type DrainState, parseDrainState, stateMapName } from '../domain/ceph-drain/state-map.ts'
import { parseRfc3339, rfc3339 } from '../domain/ceph-drain/timestamp.ts'
import type { KubeApi } from '../kube/kube-api.ts'

export const recordName = stateMapName
/** Where the answers stand while another operator has the budgets, and the state map with them. */
export const observedName = 'cofferdam-ceph-drain'

/** What is written down about one cluster: the state that must survive, and words for whoever reads the ConfigMap. */
export interface DrainRecord {
  readonly namespace: string
  readonly name: string
  readonly configMap: ConfigMap | undefined
  readonly state: DrainState
  readonly reason: string | undefined
  readonly silentSince: number | undefined
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

export interface RecordChange {
  /** Undefined: none of ours must survive. */
  readonly state: DrainState | undefined
  readonly decision: Pick<CephDrainDecision, 'reason' | 'explanation' | 'failureDomainType' | 'domains' | 'problems'>
  readonly silentSince: number | undefined
  readonly now: string
}

/** Writes the record if it differs, as a compare-and-swap on what was read; tells what is there then. */
export async function writeRecord(
  api: Pick<KubeApi, 'create' | 'update'>,
  record: DrainRecord,
  change: RecordChange,
  signal: AbortSignal,
): Promise<DrainRecord> {
  const { configMap, namespace, name } = record
  const data = change.state === undefined ? {} : buildDrainState(change.state)
  const annotations = buildAnnotations(record, change)
  if (configMap === undefined) {
    const created = await api.create(
      configMaps,
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace, name, annotations },
        data,
      },
      { signal },
    )
    return recordOf(record, created)
  }
  if (isSameJson(configMap.data ?? {}, data) && isSameJson(configMap.metadata.annotations ?? {}, annotations)) {
    return record
  }
  const updated = await api.update(
    configMaps,
    { ...configMap, metadata: { ...configMap.metadata, annotations }, data },
    { signal },
  )
  return recordOf(record, updated)
}

/** Takes away what was written down while another operator had the budgets: from now on the state map tells. */
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

function buildAnnotations({ configMap, reason }: DrainRecord, change: RecordChange): Record<string, string> {
  const present = configMap?.metadata.annotations ?? {}
  const { decision, silentSince, now } = change
  const foreign = Object.entries(present).filter(([key]) => !(Object.values(notes) as string[]).includes(key))
  const problems = decision.problems.map(({ object, problem }) => `${object}: ${problem}`).join('; ')
  const since = reason === decision.reason ? (present[notes.since] ?? now) : now
  return {
    ...Object.fromEntries(foreign),
    [notes.reason]: decision.reason,
    [notes.explanation]: decision.explanation,
    [notes.since]: since,
    ...domainNotes(decision),
    ...(problems === '' ? {} : { [notes.problems]: problems }),
    ...(silentSince === undefined ? {} : { [notes.silentSince]: rfc3339(silentSince) }),
  }
}

/** Ceph is not asked for a cluster that is handed back, so there is nothing to say about its domains. */
function domainNotes({ reason, failureDomainType, domains }: RecordChange['decision']): Record<string, string> {
  if (reason === 'HandedBack' || domains.length === 0) return {}
  return { [notes.failureDomainType]: failureDomainType, [notes.domains]: buildDomainRecord(domains) }
}
