import type { Capability } from '../capability.ts'
import { osdUpdatePermissions } from './controller/controller.ts'
import { osdGrowthPermissions } from './controller/growth.ts'

export const osdUpdate = {
  name: 'osd-update',
  summary: 'Updates, restarts and adds OSDs, as many at a time as the placement groups allow.',
  controllers: [
    { name: 'osd-update', rights: osdUpdatePermissions },
    { name: 'osd-growth', rights: osdGrowthPermissions },
  ],
} as const satisfies Capability<never>
