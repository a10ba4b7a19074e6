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
  if (typeof spec?.migrationNodeID !== 'string') return 'its spec.migrationNodeID is not known'
  if (typeof status?.currentMigrationNodeID !== 'string') return 'its status.currentMigrationNodeID is not known'
  if (!isName(spec.image)) return 'its spec.image is not known'
  if (!isName(status.currentImage)) return 'its status.currentImage is not known'
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
  return isName(image) && isName(current) && image !== current ? `its engine is upgraded to ${image}` : undefined
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
