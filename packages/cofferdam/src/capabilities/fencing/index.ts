import type { Capability } from '../capability.ts'
import { fencingPermissions } from './controller/controller.ts'

export const fencing = {
  name: 'fencing',
  summary: 'Lets automatic remediation fence one storage machine at a time, and only on clean data.',
  controllers: [{ name: 'fencing', rights: fencingPermissions }],
} as const satisfies Capability<never>
