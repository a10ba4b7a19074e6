import { cephFaults } from './ceph-faults.ts'
import type { FaultKind } from './deed-kind.ts'
import { peopleFaults } from './people-faults.ts'
import { processFaults } from './process-faults.ts'
import { serverFaults } from './server-faults.ts'
import { storageFaults } from './storage-faults.ts'
import { tenantFaults } from './tenant-faults.ts'

/** Everything that can go wrong, by its name, with its row in docs/reference/reliability.md. */
export const faultKinds: Readonly<Record<string, FaultKind>> = {
  ...processFaults,
  ...serverFaults,
  ...cephFaults,
  ...storageFaults,
  ...peopleFaults,
  ...tenantFaults,
}
