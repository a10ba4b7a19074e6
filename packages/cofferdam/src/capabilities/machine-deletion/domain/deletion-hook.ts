import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { preDrainAnnotation, preDrainHookName } from '../../../shared/pre-drain-hook.ts'
import type { MachineView } from './snapshot.ts'

/** Label or annotation of a Machine: both come from the template of its set. */
export const optInMark = 'cofferdam.io/drain-before-delete'

/** Who the hook belongs to, as OpenShift wants it said. */
export const hookOwner = 'cofferdam.io/machine-deletion'

/**
 * The JSON merge patch that sets our hook or takes it away. Its resourceVersion lets the API server refuse it when the Machine has changed since.
 *
 * Guarantees: the hooks of others stay as they were seen.
 */
export function buildHookPatch({ api, hooks, resourceVersion }: MachineView, isWanted: boolean): JsonObject {
  if (api === 'cluster-api') {
    return { metadata: { resourceVersion, annotations: { [preDrainAnnotation]: isWanted ? '' : null } } }
  }
  const others = hooks.others as readonly JsonObject[]
  const preDrain = isWanted ? [...others, { name: preDrainHookName, owner: hookOwner }] : others
  return {
    metadata: { resourceVersion },
    spec: { lifecycleHooks: { preDrain: preDrain.length === 0 ? null : preDrain } },
  }
}
