import { hasReason } from '../api/api-error.ts'
import type { BudgetWrite } from '../api/budget-write.ts'
import type { PodDisruptionBudget } from '../api/policy.ts'
import { keyOf } from '../api/resource-type.ts'
import { podDisruptionBudgets } from '../api/resources.ts'
import type { KubeApi } from './kube-api.ts'

/** Called with what was sent, and with what the API server made of it. */
export type OnBudgetStored = (sent: PodDisruptionBudget, stored: PodDisruptionBudget) => void

/**
 * Writes budgets in the given order, and stops at the first refusal: what comes later may be safe only after it.
 *
 * Guarantees: an object that changed since it was seen is refused with 409 `Conflict`, and left as it is.
 * Returns the version of the last write, for a view to wait for; undefined when there was none.
 */
export async function applyBudgets(
  api: Pick<KubeApi, 'create' | 'update' | 'delete'>,
  writes: readonly BudgetWrite[],
  signal: AbortSignal,
  onStored: OnBudgetStored = () => undefined,
): Promise<string | undefined> {
  let version: string | undefined
  for (const write of writes) version = (await applyWrite(api, write, { signal, onStored })) ?? version
  return version
}

async function applyWrite(
  api: Pick<KubeApi, 'create' | 'update' | 'delete'>,
  write: BudgetWrite,
  { signal, onStored }: { readonly signal: AbortSignal; readonly onStored: OnBudgetStored },
): Promise<string | undefined> {
  switch (write.verb) {
    case 'create': {
      const created = await api.create(podDisruptionBudgets, write.budget, { signal })
      onStored(write.budget, created)
      return created.metadata.resourceVersion
    }
    case 'replace': {
      const { seen, budget } = write
      const updated = await api.update(podDisruptionBudgets, withSpecOf(seen, budget), { signal })
      onStored(budget, updated)
      return updated.metadata.resourceVersion
    }
    case 'delete': {
      const { uid, resourceVersion } = write.seen.metadata
      try {
        const preconditions = {
          ...(uid === undefined ? {} : { uid }),
          ...(resourceVersion === undefined ? {} : { resourceVersion }),
        }
        const deleted = await api.delete(podDisruptionBudgets, keyOf(write.seen), { preconditions, signal })
        return deleted.metadata.resourceVersion
      } catch (error) {
        if (!hasReason(error, 'NotFound')) throw error
        return undefined
      }
    }
  }
}

/** Labels and annotations that others put there stay. */
function withSpecOf(seen: PodDisruptionBudget, { metadata, spec }: PodDisruptionBudget): PodDisruptionBudget {
  const labels = { ...seen.metadata.labels, ...metadata.labels }
  const annotations = { ...seen.metadata.annotations, ...metadata.annotations }
  return {
    ...seen,
    metadata: {
      ...seen.metadata,
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      ...(metadata.ownerReferences === undefined ? {} : { ownerReferences: metadata.ownerReferences }),
    },
    spec,
  }
}
