import { backupFaults } from './backup-faults.ts'
import { cephFaults } from './ceph-faults.ts'
import { crushFaults } from './crush-faults.ts'
import type { FaultKind } from './deed-kind.ts'
import { elderFaults } from './elder-faults.ts'
import { guardFaults } from './guard-faults.ts'
import { limitFaults } from './limit-faults.ts'
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

/** Kinds that came later, and what of them a seed draws. */
export interface AddedFaults {
  /** Seeds from here on draw them beside the others, so that those before it keep their stories. */
  readonly fromSeed: number
  /** Of the chance that deals them. */
  readonly name: string
  /** Of the first deed of these. */
  readonly number: number
  /** From the first number on, and less than the second. */
  readonly count: { readonly whole: readonly [number, number]; readonly short: readonly [number, number] }
  readonly kinds: Readonly<Record<string, FaultKind>>
}

/** A kind that comes after these needs a line of its own, for the same reason. */
export const addedFaults: readonly AddedFaults[] = [
  {
    fromSeed: 10_000,
    name: 'later faults',
    number: 200,
    count: { whole: [1, 4], short: [1, 3] },
    kinds: { ...elderFaults, ...nodeFaults, ...crushFaults, ...versionFaults },
  },
  {
    fromSeed: 100_000,
    name: 'latest faults',
    number: 300,
    count: { whole: [1, 2], short: [1, 2] },
    kinds: guardFaults,
  },
  {
    fromSeed: 200_000,
    name: 'newest faults',
    number: 400,
    count: { whole: [1, 3], short: [1, 3] },
    kinds: placementFaults,
  },
  { fromSeed: 300_000, name: 'last faults', number: 500, count: { whole: [1, 2], short: [1, 2] }, kinds: backupFaults },
  { fromSeed: 400_000, name: 'limits', number: 600, count: { whole: [1, 2], short: [1, 2] }, kinds: limitFaults },
]

/** Everything that can go wrong, by its name, with its row in docs/reference/reliability.md. */
export const faultKinds: Readonly<Record<string, FaultKind>> = {
  ...firstFaultKinds,
  ...Object.assign({}, ...addedFaults.map(({ kinds }) => kinds)),
}
