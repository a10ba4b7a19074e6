import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'

/**
 * Objects that hold nulls which are not shown, as the real server stores them for custom resources. What is stored is then not what a
 * write compares itself with: one that changes nothing is stored, too, and gets a version.
 */
export const storedWithNulls = new WeakSet<KubeObject>()
