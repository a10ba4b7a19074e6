import type { Capability } from '../capability.ts'
import { cephDrainPermissions } from './controller/controller.ts'
import { cephStaticBudgetsPermissions } from './controller/static-budgets.ts'

export const cephDrain = {
  name: 'ceph-drain',
  summary:
    'Keeps the budgets of a Rook cluster: one failure domain of OSDs may go at a time, mons and other daemons by number.',
  controllers: [
    { name: 'ceph-drain', rights: cephDrainPermissions },
    { name: 'ceph-static-budgets', rights: cephStaticBudgetsPermissions },
  ],
} as const satisfies Capability<never>
