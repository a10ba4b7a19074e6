import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Pod, PodTemplateSpec } from '@cofferdam/kubernetes/api/core.ts'
import type { KubeObject, ObjectMeta } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { type ActorTools, deleteExactly } from '../actor.ts'
import { controllerReference } from './owned-pods.ts'

export function buildPod({
  owner,
  type,
  template,
  name,
}: {
  owner: KubeObject
  type: ResourceType
  template: PodTemplateSpec
  /** Absent: the server makes one up that begins with the owner's name. */
  name?: string
}): Pod {
  const { labels, annotations, finalizers } = template.metadata ?? {}
  const naming = name === undefined ? { generateName: `${owner.metadata.name}-` } : { name }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...naming,
      namespace: owner.metadata.namespace as string,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(finalizers === undefined ? {} : { finalizers }),
      ownerReferences: [controllerReference(owner, type)],
    } as ObjectMeta,
    spec: template.spec,
  }
}

/** Creates a pod for its owner and says so. The pod is in the view before the watch brings it. */
export async function createOwnedPod(tools: ActorTools, owner: KubeObject, pod: Pod): Promise<Pod> {
  try {
    const created = await tools.api.create(pods, pod)
    tools.views.of(pods).record(created)
    tools.recorder.record(owner, 'Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`)
    return created
  } catch (error) {
    if (error instanceof ApiError) {
      tools.recorder.record(owner, 'Warning', 'FailedCreate', `Error creating: ${error.message}`)
    }
    throw error
  }
}

export async function deleteOwnedPod(tools: ActorTools, owner: KubeObject, pod: Pod): Promise<void> {
  if (await deleteExactly(tools, pods, pod)) {
    tools.recorder.record(owner, 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`)
  }
}

/** The object without fields that are 0, as the real server leaves them out. */
export function withoutZeros<T extends object>(counts: T): T {
  return Object.fromEntries(Object.entries(counts).filter(([, value]) => value !== 0)) as T
}
