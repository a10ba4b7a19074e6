import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { apiVersionOf, type ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { ResourceCatalogue } from './resource-definition.ts'

/** The resource that a manifest belongs to, or undefined when its kind is not served. */
export function typeOfObject(catalogue: ResourceCatalogue, object: KubeObject): ResourceType | undefined {
  return catalogue
    .all()
    .map(({ type }) => type)
    .find((type) => type.kind === object.kind && apiVersionOf(type) === object.apiVersion)
}
