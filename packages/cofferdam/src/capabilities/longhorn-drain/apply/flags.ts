import { longhornNamespace, longhornNodes, longhornReplicas } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { EvictionAnswer } from '../domain/decision.ts'
import type { LonghornWrite } from '../domain/steps.ts'
import type { LonghornViews } from '../observe/observe.ts'
import { collectFailure } from './collect-failure.ts'

type Flags = Extract<LonghornWrite, { readonly what: 'flags' }>

interface FlagPorts {
  readonly api: Pick<KubeApi, 'patch'>
  readonly views: Pick<LonghornViews, 'replicas' | 'nodes'>
}

export interface AppliedFlags {
  readonly changed: readonly EvictionAnswer[]
  /** Flags of nodes; one that is refused stops no other. */
  readonly failures: readonly unknown[]
  /** Flags of replicas, by volume. */
  readonly refused: ReadonlyMap<string, unknown>
}

/**
 * Raises and lowers the flags of replicas, then those of nodes.
 *
 * Guarantees: a replica that changed since it was seen is refused with 409, and judged again.
 */
export async function applyEvictionFlags(
  { api, views }: FlagPorts,
  { flags, nodes }: Pick<Flags, 'flags' | 'nodes'>,
  signal: AbortSignal,
): Promise<AppliedFlags> {
  const changed: EvictionAnswer[] = []
  const refused = new Map<string, unknown>()
  const failures: unknown[] = []
  let replicaVersion: string | undefined
  let nodeVersion: string | undefined
  for (const { volume, resourceVersion, ...answer } of flags) {
    const refusals: unknown[] = []
    await collectFailure(refusals, async () => {
      const key = { namespace: longhornNamespace, name: answer.replica }
      const body = {
        ...(resourceVersion === undefined ? {} : { metadata: { resourceVersion } }),
        spec: { evictionRequested: answer.isRequested },
      }
      const written = await api.patch(longhornReplicas, key, { type: 'merge', body }, { signal })
      replicaVersion = written.metadata.resourceVersion
      changed.push(answer)
    })
    if (refusals.length > 0) refused.set(volume, refusals[0])
  }
  for (const { node, isAutoEvicting } of nodes) {
    await collectFailure(failures, async () => {
      const written = await api.patch(
        longhornNodes,
        { namespace: longhornNamespace, name: node },
        { type: 'merge', body: { status: { autoEvicting: isAutoEvicting } } },
        { signal, subresource: 'status' },
      )
      nodeVersion = written.metadata.resourceVersion
    })
  }
  if (replicaVersion !== undefined) await views.replicas.whenSeen(replicaVersion, signal)
  if (nodeVersion !== undefined) await views.nodes.whenSeen(nodeVersion, signal)
  return { changed, failures, refused }
}
