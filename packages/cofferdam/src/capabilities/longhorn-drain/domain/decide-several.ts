import type { LonghornSetting } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { known } from '../../../shared/observed.ts'
import type { LonghornPass } from './decide-pass.ts'
import { parseDrainSettings } from './drain-settings.ts'
import type { SeveralLonghorns } from './pass-snapshot.ts'
import { drainPolicySetting } from './policy.ts'

/**
 * Where Longhorn is in several namespaces: reported about each setting that puts us in charge, and nothing else is done.
 *
 * Fails closed: no write, so what is held stays held, and nothing begins to move.
 */
export function decideSeveralLonghorns({ problem, settings }: SeveralLonghorns): LonghornPass {
  return {
    steps: [{ do: 'report', what: 'several-places', problem, settings: settings.filter(isInCharge) }],
    observed: undefined,
    recheckAfterSeconds: undefined,
  }
}

function isInCharge(setting: LonghornSetting): boolean {
  const around = { budgets: [], manager: known(undefined), nowMs: 0 }
  return setting.metadata.name === drainPolicySetting && parseDrainSettings([setting], around).mode !== 'observe'
}
