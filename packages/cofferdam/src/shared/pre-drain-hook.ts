import { isJsonObject, type Json } from '@cofferdam/kubernetes/api/json.ts'
import type { Machine } from '@cofferdam/kubernetes/api/kinds/machines.ts'

/** Cluster API does not drain a Machine while it has any annotation with this prefix; this one is ours. */
export const preDrainAnnotation = 'pre-drain.delete.hook.machine.cluster.x-k8s.io/cofferdam'
/** OpenShift does not drain a Machine while `spec.lifecycleHooks.preDrain` has an entry; ours has this name. */
export const preDrainHookName = 'cofferdam'

/** Whether our hook keeps a Machine of either API from being drained by its machine controller. */
export function hasPreDrainHook({ metadata, spec }: Machine): boolean {
  if (metadata.annotations?.[preDrainAnnotation] !== undefined) return true
  const hooks: unknown = spec?.lifecycleHooks?.preDrain
  return Array.isArray(hooks) && hooks.some((hook: Json) => isJsonObject(hook) && hook['name'] === preDrainHookName)
}
