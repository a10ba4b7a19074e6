import { cephCrashScenarios } from './ceph-scenarios.ts'
import type { CrashScenario } from './crash-scenario.ts'
import { fencingCrashScenarios } from './fencing-scenarios.ts'
import { lockCrashScenarios } from './lock-scenarios.ts'
import { longhornCrashScenarios } from './longhorn-scenarios.ts'
import { updateCrashScenarios } from './update-scenarios.ts'

/** By names that stay. */
export const crashScenarios: Readonly<Record<string, CrashScenario>> = {
  ...cephCrashScenarios,
  ...lockCrashScenarios,
  ...fencingCrashScenarios,
  ...updateCrashScenarios,
  ...longhornCrashScenarios,
}
