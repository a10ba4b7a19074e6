import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { MachineView } from './snapshot.ts'

/** Label or annotation of a Machine: both come from the template of its set. */
export const optInMark = 'cofferdam.io/drain-before-delete'

/** Cluster API waits while a Machine has any annotation with this prefix. */
export const hookAnnotation = 'pre-drain.delete.hook.machine.cluster.x-k8s.io/cofferdam'
/** OpenShift waits while `spec.lifecycleHooks.preDrain` has an entry. */
export const hookName = 'cofferdam'
const hookOwner = 'cofferdam.io/machine-deletion'

/**
 * The JSON merge patch that sets our hook or takes it away. Its resourceVersion lets the API server refuse it when the Machine has changed since.
 *
 * Guarantees: the hooks of others stay as they were seen.
 */
export function buildHookPatch({ api, hooks, resourceVersion }: MachineView, isWanted: boolean): JsonObject {
  if (api === 'cluster-api') {
    return { metadata: { resourceVersion, annotations: { [hookAnnotation]: isWanted ? '' : null } } }
  }
  const others = hooks.others as readonly JsonObject[]
  const preDrain = isWanted ? [...others, { name: hookName, owner: hookOwner }] : others
  return {
    metadata: { resourceVersion },
    spec: { lifecycleHooks: { preDrain: preDrain.length === 0 ? null : preDrain } },
  }
}
