import type { Capability } from '../capabilities/capability.ts'
import { guardCertificatesPermissions } from './controller/guard-certificates.ts'
import { evictionGuardPermissions } from './controller/guard-permissions.ts'
import { guardRegistrationPermissions } from './controller/guard-registration.ts'

export const evictionGuard = {
  name: 'eviction-guard',
  summary: 'Refuses evictions that would break a lock or a hold, in the API server itself.',
  controllers: [
    { name: 'guard-certificates', rights: guardCertificatesPermissions },
    { name: 'guard-registration', rights: guardRegistrationPermissions },
  ],
  replicaRights: { 'eviction-guard': evictionGuardPermissions },
} as const satisfies Capability<never>
