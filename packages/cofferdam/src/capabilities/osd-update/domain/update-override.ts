import type { UpdateSettings } from './update-settings.ts'

/** An OSD that is updated although that takes placement groups away, because a setting of the CephCluster says so. */
export interface UpdateOverride {
  readonly osd: number
  /** The setting that asks for it. */
  readonly by: OverrideSetting
  /** What it costs: which placement groups lose what. */
  readonly harm: string
}

export type OverrideSetting = 'skipUpgradeChecks' | 'continueUpgradeAfterChecksEvenIfNotHealthy'

/** What the setting that is in force means. */
export const overrideMeanings: Readonly<Record<OverrideSetting, string>> = {
  skipUpgradeChecks: 'OSDs are updated one at a time, without checks, also where that takes placement groups away',
  continueUpgradeAfterChecksEvenIfNotHealthy:
    'an OSD that the checks refuse is updated alone, also where that takes placement groups away',
}

/** The setting that is in force; `skipUpgradeChecks` asks for more. */
export function overrideInForce(settings: UpdateSettings): OverrideSetting | undefined {
  if (settings.skipUpgradeChecks) return 'skipUpgradeChecks'
  return settings.continueUpgradeAfterChecksEvenIfNotHealthy ? 'continueUpgradeAfterChecksEvenIfNotHealthy' : undefined
}
