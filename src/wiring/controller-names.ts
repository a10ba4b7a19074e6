import { appLockKeeperPermissions } from '../controllers/app-lock-keeper.ts'
import { cephDrainPermissions } from '../controllers/ceph-drain.ts'
import { cephStaticBudgetsPermissions } from '../controllers/ceph-static-budgets.ts'
import { drainDetectionPermissions } from '../controllers/drain-detection.ts'
import { fencingPermissions } from '../controllers/fencing.ts'
import { guardCertificatesPermissions } from '../controllers/guard-certificates.ts'
import { evictionGuardPermissions } from '../controllers/guard-permissions.ts'
import { guardRegistrationPermissions } from '../controllers/guard-registration.ts'
import { ledgerKeeperPermissions } from '../controllers/ledger-keeper.ts'
import { longhornDrainPermissions } from '../controllers/longhorn-drain.ts'
import { nodeDisruptionPermissions } from '../controllers/node-disruption.ts'
import { undoDisruptionPermissions } from '../controllers/node-disruption-undo.ts'
import { osdGrowthPermissions } from '../controllers/osd-growth.ts'
import { osdUpdatePermissions } from '../controllers/osd-update.ts'
import type { Permission } from '../controllers/permission.ts'

export const controllerNames = [
  'drain-detection',
  'ceph-drain',
  'ceph-static-budgets',
  'longhorn-drain',
  'fencing',
  'osd-update',
  'osd-growth',
  'node-disruption',
  'disruption-ledger',
  'app-locks',
  'guard-certificates',
  'guard-registration',
] as const

export type ControllerName = (typeof controllerNames)[number]

/** What each controller may ask of the API server; the Roles in deploy/ are made from it. */
export const permissionsOf: Readonly<Record<ControllerName | 'eviction-guard', readonly Permission[]>> = {
  'drain-detection': drainDetectionPermissions,
  'ceph-drain': cephDrainPermissions,
  'ceph-static-budgets': cephStaticBudgetsPermissions,
  'longhorn-drain': longhornDrainPermissions,
  fencing: fencingPermissions,
  'osd-update': osdUpdatePermissions,
  'osd-growth': osdGrowthPermissions,
  'node-disruption': nodeDisruptionPermissions,
  'disruption-ledger': [...ledgerKeeperPermissions, ...undoDisruptionPermissions],
  'app-locks': appLockKeeperPermissions,
  'guard-certificates': guardCertificatesPermissions,
  'guard-registration': guardRegistrationPermissions,
  'eviction-guard': evictionGuardPermissions,
}
