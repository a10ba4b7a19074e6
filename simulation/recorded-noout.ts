import { configMaps } from '@cofferdam/kubernetes/api/resources.ts'
import { parseDrainState, stateMapName } from '@cofferdam/product/capabilities/ceph-drain/domain/state-map.ts'
import { parseUpdateRecord, updateRecordName } from '@cofferdam/product/capabilities/osd-update/domain/update-record.ts'
import type { Stage } from './stage/open-stage.ts'

/** The OSDs whose noout is the update's, as its record says. */
export async function readUpdateNoout({ api, description: { ceph } }: Stage): Promise<readonly string[]> {
  if (ceph === undefined) return []
  const key = { namespace: ceph.namespace, name: updateRecordName(ceph) }
  const stored = await api.get(configMaps, key).catch(() => undefined)
  const parsed = parseUpdateRecord(stored?.data, 0)
  return 'record' in parsed ? (parsed.record.noout ?? []).map((osd) => `osd.${osd}`) : []
}

/** The buckets and OSDs whose noout is on record as the operator's, of drains and of updates. */
export async function readRecordedNoout(stage: Stage): Promise<readonly string[]> {
  const { ceph } = stage.description
  if (ceph === undefined) return []
  const key = { namespace: ceph.namespace, name: stateMapName }
  const stored = await stage.api.get(configMaps, key).catch(() => undefined)
  const ofDrains = stored === undefined ? [] : parseDrainState(stored.data).ownNoout
  return [...ofDrains, ...(await readUpdateNoout(stage))]
}
