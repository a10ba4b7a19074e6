import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { type ActorTools, deleteExactly } from '../actor.ts'

const longhornFinalizer = 'longhorn.io'

/** On every object of Longhorn but settings and instance managers: it stays until Longhorn has cleared up what it stood for. */
export const longhornFinalizers: readonly string[] = [longhornFinalizer]

/** Deleted, and there until Longhorn has cleared up. */
export function isGoing({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined
}

export function isHeld({ metadata }: KubeObject): boolean {
  return metadata.finalizers?.includes(longhornFinalizer) === true
}

/** Lets a deleted object go. Assumes: what it stood for is cleared up. */
export async function letGo<T extends KubeObject>(tools: ActorTools, type: ResourceType<T>, object: T): Promise<void> {
  if (!isGoing(object) || !isHeld(object)) return
  const finalizers = (object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== longhornFinalizer)
  const released = await tools.api.update(type, { ...object, metadata: { ...object.metadata, finalizers } })
  tools.views.of(type).recordDeleted(released)
}

/** Deletes an object behind which there is nothing left to clear up. */
export async function deleteAndLetGo<T extends KubeObject>(
  tools: ActorTools,
  type: ResourceType<T>,
  object: T,
): Promise<void> {
  if (!isGoing(object)) await deleteExactly(tools, type, object)
  const { namespace = '', name, uid } = object.metadata
  const left = tools.views.of(type).get(`${namespace}/${name}`)
  if (left !== undefined && left.metadata.uid === uid) await letGo(tools, type, left)
}
