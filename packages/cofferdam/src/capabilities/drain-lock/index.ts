import type { Capability } from '../capability.ts'
import { undoDisruptionPermissions } from './apply/undo.ts'
import { appLockKeeperPermissions } from './controller/app-lock-keeper.ts'
import { nodeDisruptionPermissions } from './controller/controller.ts'
import { ledgerKeeperPermissions } from './controller/ledger-keeper.ts'

export const drainLock = {
  name: 'drain-lock',
  summary: 'Takes nodes out on request, one holder per node, budget and storage at a time, and gives them back.',
  controllers: [
    { name: 'node-disruption', rights: nodeDisruptionPermissions },
    { name: 'disruption-ledger', rights: [...ledgerKeeperPermissions, ...undoDisruptionPermissions] },
    { name: 'app-locks', rights: appLockKeeperPermissions },
  ],
} as const satisfies Capability<never>
