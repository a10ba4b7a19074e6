import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { controllerOf, type KubeObject, type OwnerReference } from '@cofferdam/kubernetes/api/kube-object.ts'
import { isSelected, type LabelSelector } from '@cofferdam/kubernetes/api/label-selector.ts'
import { apiVersionOf, type ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { ActorTools } from '../actor.ts'
import { isTerminating } from '../pod-facts.ts'
import type { Change, View } from '../view.ts'
import type { WorkQueue } from '../work-queue.ts'

type PodOwner = KubeObject & { readonly spec: { readonly selector?: LabelSelector } }

export function controllerReference(owner: KubeObject, type: ResourceType): OwnerReference {
  return {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid as string,
    controller: true,
    blockOwnerDeletion: true,
  }
}

/** The objects that name this uid as their controller. */
export function indexByController<T extends KubeObject>(view: View<T>): (uid: string) => Iterable<T> {
  return view.indexBy('controller', (object) => {
    const controller = controllerOf(object)
    return controller === undefined ? [] : [controller.uid]
  })
}

/** The objects of a namespace that have no controller. */
export function indexOrphans<T extends KubeObject>(view: View<T>): (namespace: string) => Iterable<T> {
  return view.indexBy('orphans', (object) =>
    controllerOf(object) === undefined ? [object.metadata.namespace ?? ''] : [],
  )
}

export function indexByNamespace<T extends KubeObject>(view: View<T>): (namespace: string) => Iterable<T> {
  return view.indexBy('namespace', (object) => [object.metadata.namespace ?? ''])
}

export function indexByNode(view: View<Pod>): (node: string) => Iterable<Pod> {
  return view.indexBy('node', (pod) => (pod.spec.nodeName === undefined ? [] : [pod.spec.nodeName]))
}

/**
 * Wakes the owners that a change of one of their objects concerns: the controller it names or named, or, when it names
 * none, every owner of the namespace whose selector takes it.
 */
export function wakeOwners<T extends KubeObject>({
  tools,
  owned,
  type,
  queue,
}: {
  tools: ActorTools
  owned: View<T>
  type: ResourceType
  queue: WorkQueue
}): void {
  const owners = tools.views.of(type) as unknown as View<PodOwner>
  const inNamespace = indexByNamespace(owners)
  const wake = (object: T) => {
    const controller = controllerOf(object)
    const namespace = object.metadata.namespace ?? ''
    if (controller !== undefined) {
      if (controller.kind === type.kind) queue.add(`${namespace}/${controller.name}`)
      return
    }
    for (const owner of inNamespace(namespace)) {
      const { selector } = owner.spec
      if (selector !== undefined && isSelected(selector, object.metadata.labels)) {
        queue.add(`${namespace}/${owner.metadata.name}`)
      }
    }
  }
  tools.onStop(
    owned.subscribe(({ before, after }: Change<T>) => {
      if (after !== undefined) wake(after)
      if (before !== undefined && (after === undefined || !hasSameOwner(before, after))) wake(before)
    }),
  )
}

function hasSameOwner(a: KubeObject, b: KubeObject): boolean {
  return a.metadata.ownerReferences === b.metadata.ownerReferences || controllerOf(a)?.uid === controllerOf(b)?.uid
}

/**
 * The objects that belong to this owner, after taking in orphans that its selector takes and letting go those that it
 * no longer takes.
 */
export async function claimObjects<T extends KubeObject>({
  tools,
  owned,
  owner,
  type,
}: {
  tools: ActorTools
  owned: ResourceType<T>
  owner: PodOwner
  type: ResourceType
}): Promise<T[]> {
  const view = tools.views.of(owned)
  const selector = owner.spec.selector ?? {}
  const mayChange = !isTerminating(owner)
  const claimed: T[] = []
  for (const object of Array.from(indexByController(view)(owner.metadata.uid as string))) {
    if (isSelected(selector, object.metadata.labels)) claimed.push(object)
    else if (mayChange) await writeOwners(tools, owned, object, withoutController(object))
  }
  if (!mayChange) return claimed
  for (const object of Array.from(indexOrphans(view)(owner.metadata.namespace ?? ''))) {
    if (isTerminating(object) || !isSelected(selector, object.metadata.labels)) continue
    const references = [...(object.metadata.ownerReferences ?? []), controllerReference(owner, type)]
    claimed.push(await writeOwners(tools, owned, object, references))
  }
  return claimed
}

export function claimPods(options: { tools: ActorTools; owner: PodOwner; type: ResourceType }): Promise<Pod[]> {
  return claimObjects({ ...options, owned: pods })
}

function withoutController(object: KubeObject): readonly OwnerReference[] {
  return (object.metadata.ownerReferences ?? []).filter((reference) => reference.controller !== true)
}

async function writeOwners<T extends KubeObject>(
  tools: ActorTools,
  type: ResourceType<T>,
  object: T,
  ownerReferences: readonly OwnerReference[],
): Promise<T> {
  const written = await tools.api.update(type, { ...object, metadata: { ...object.metadata, ownerReferences } })
  tools.views.of(type).record(written)
  return written
}
