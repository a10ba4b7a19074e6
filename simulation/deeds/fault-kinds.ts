import { cephFaults } from './ceph-faults.ts'
import { crushFaults } from './crush-faults.ts'
import type { FaultKind } from './deed-kind.ts'
import { elderFaults } from './elder-faults.ts'
import { guardFaults } from './guard-faults.ts'
import { nodeFaults } from './node-faults.ts'
import { peopleFaults } from './people-faults.ts'
import { placementFaults } from './placement-faults.ts'
import { processFaults } from './process-faults.ts'
import { serverFaults } from './server-faults.ts'
import { storageFaults } from './storage-faults.ts'
import { tenantFaults } from './tenant-faults.ts'
import { versionFaults } from './version-faults.ts'

/** What every seed draws from. One kind more would deal other faults to all of them: new kinds belong below. */
export const firstFaultKinds: Readonly<Record<string, FaultKind>> = {
  ...processFaults,
  ...serverFaults,
  ...cephFaults,
  ...storageFaults,
  ...peopleFaults,
  ...tenantFaults,
}

/**
 * What seeds draw from beside that from `laterFaultsFrom` on, so that those before it keep their stories. Kinds that come after these need a limit of
 * their own, for the same reason.
 */
export const laterFaultKinds: Readonly<Record<string, FaultKind>> = {
  ...elderFaults,
  ...nodeFaults,
  ...crushFaults,
  ...versionFaults,
}
export const laterFaultsFrom = 10_000

/** And from `latestFaultsFrom` on. */
export const latestFaultKinds: Readonly<Record<string, FaultKind>> = { ...guardFaults }
export const latestFaultsFrom = 100_000

/** And from `newestFaultsFrom` on. */
export const newestFaultKinds: Readonly<Record<string, FaultKind>> = { ...placementFaults }
export const newestFaultsFrom = 200_000

/** Everything that can go wrong, by its name, with its row in docs/reference/reliability.md. */
export const faultKinds: Readonly<Record<string, FaultKind>> = {
  ...firstFaultKinds,
  ...laterFaultKinds,
  ...latestFaultKinds,
  ...newestFaultKinds,
}
