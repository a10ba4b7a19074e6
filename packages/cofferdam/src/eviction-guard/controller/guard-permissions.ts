import type { Permission } from '../../shared/permission.ts'
import { guardSecret } from '../domain/guard-secret.ts'

/** What the eviction guard itself may ask; it runs in every replica, whether that leads or not. */
export const evictionGuardPermissions: readonly Permission[] = [
  { group: '', resource: 'pods', verbs: ['get', 'list', 'watch'] },
  // To note on a node that somebody tries to empty it.
  { group: '', resource: 'nodes', verbs: ['list', 'watch', 'patch'] },
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: ['get', 'list', 'watch'] },
  { group: 'cofferdam.io', resource: 'disruptionledgers', verbs: ['get', 'list', 'watch'] },
  { group: 'cofferdam.io', resource: 'nodedisruptions', verbs: ['list', 'watch'] },
  { group: '', resource: 'secrets', namespace: guardSecret.namespace, names: [guardSecret.name], verbs: ['get'] },
]
