import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { marks } from './marks.ts'

/** Whether a budget of Cofferdam exists for the machines of this cluster: an operator that does not know its name must not free them. */
export function isGuardedBefore({ metadata }: KubeObject, budgets: Iterable<KubeObject>): boolean {
  for (const budget of budgets) {
    if (metadata.uid !== undefined && budget.metadata.annotations?.[marks.clusterUid] === metadata.uid) return true
  }
  return false
}
