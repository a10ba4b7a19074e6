import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'

/** In the order in which they were written: a list is by name, and of events of one moment the names are random. */
export function byWriting(a: KubeObject, b: KubeObject): number {
  return Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion)
}
