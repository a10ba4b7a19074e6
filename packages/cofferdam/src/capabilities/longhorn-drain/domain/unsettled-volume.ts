import type { LonghornEngine, LonghornVolume } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'

/**
 * Why the replicas of a volume may be changing hands; undefined where Longhorn's own words rule it out.
 *
 * Fails closed: Longhorn always writes these fields, so one that is missing or is no text leaves it open.
 */
export function unsettledOf(
  { spec, status }: LonghornVolume,
  engines: readonly Pick<LonghornEngine, 'spec'>[],
): string | undefined {
  const fields: Readonly<Record<string, unknown>> = {
    'spec.migrationNodeID': spec?.migrationNodeID,
    'status.currentMigrationNodeID': status?.currentMigrationNodeID,
    'spec.image': spec?.image,
    'status.currentImage': status?.currentImage,
  }
  const unknown = Object.entries(fields).find(
    ([path, value]) => typeof value !== 'string' || (path.endsWith('mage') && value === ''),
  )
  if (unknown !== undefined) return `its ${unknown[0]} is not known`
  const target = spec?.migrationNodeID || status?.currentMigrationNodeID
  if (target !== undefined && target !== '') return `it migrates to node ${target}`
  if (spec?.image !== status?.currentImage) return `its engine is upgraded to ${spec?.image}`
  if (engines.length !== 1) return `it has ${engines.length === 0 ? 'no engine' : `${engines.length} engines`}`
  return engines[0]?.spec?.active === true ? undefined : 'its engine is not active'
}
