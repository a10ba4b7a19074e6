import type { LonghornEngine, LonghornVolume } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'

/**
 * Why the replicas of a volume may be changing hands; undefined where Longhorn's own words rule it out.
 *
 * Fails closed: Longhorn always writes these fields, so one that is missing or is no text leaves it open.
 */
export function unsettledOf(
  volume: LonghornVolume,
  engines: readonly Pick<LonghornEngine, 'spec'>[],
): string | undefined {
  const { spec, status } = volume
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
  const changing = changingOf(volume)
  if (changing !== undefined) return changing
  if (engines.length !== 1) return `it has ${engines.length === 0 ? 'no engine' : `${engines.length} engines`}`
  return engines[0]?.spec?.active === true ? undefined : 'its engine is not active'
}

/** A migration or an engine upgrade that is known to be under way: Longhorn makes no copies meanwhile. */
export function changingOf({ spec, status }: Pick<LonghornVolume, 'spec' | 'status'>): string | undefined {
  const target = spec?.migrationNodeID || status?.currentMigrationNodeID
  if (typeof target === 'string' && target !== '') return `it migrates to node ${target}`
  const [image, current] = [spec?.image, status?.currentImage]
  const areKnown = typeof image === 'string' && image !== '' && typeof current === 'string' && current !== ''
  return areKnown && image !== current ? `its engine is upgraded to ${image}` : undefined
}
