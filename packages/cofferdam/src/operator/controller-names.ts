import { cephDrainPermissions } from '../capabilities/ceph-drain/controller/controller.ts'
import { cephStaticBudgetsPermissions } from '../capabilities/ceph-drain/controller/static-budgets.ts'
import { drainDetectionPermissions } from '../capabilities/drain-detection/controller.ts'
import { undoDisruptionPermissions } from '../capabilities/drain-lock/apply/undo.ts'
import { appLockKeeperPermissions } from '../capabilities/drain-lock/controller/app-lock-keeper.ts'
import { nodeDisruptionPermissions } from '../capabilities/drain-lock/controller/controller.ts'
import { ledgerKeeperPermissions } from '../capabilities/drain-lock/controller/ledger-keeper.ts'
import { fencingPermissions } from '../capabilities/fencing/controller/controller.ts'
import { longhornDrainPermissions } from '../capabilities/longhorn-drain/controller/controller.ts'
import { osdUpdatePermissions } from '../capabilities/osd-update/controller/controller.ts'
import { osdGrowthPermissions } from '../capabilities/osd-update/controller/growth.ts'
import { guardCertificatesPermissions } from '../eviction-guard/controller/guard-certificates.ts'
import { evictionGuardPermissions } from '../eviction-guard/controller/guard-permissions.ts'
import { guardRegistrationPermissions } from '../eviction-guard/controller/guard-registration.ts'
import type { Permission } from '../shared/permission.ts'

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
