import { type NodePoolBudget, nodeClaims, nodePoolLabel, nodePools } from '@cofferdam/kubernetes/api/kinds/karpenter.ts'
import { customResourceDefinitions, nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { karpenterDefinitions } from '../../../cluster-file/karpenter-definitions.ts'
import { terminationFinalizer } from '../karpenter-termination.ts'

export interface KarpenterSeed {
  /** Nodes that are there already. */
  readonly nodes: readonly string[]
  /** Default `30s`. */
  readonly consolidateAfter?: string
  readonly budgets?: readonly NodePoolBudget[]
  readonly terminationGracePeriod?: string
  readonly expireAfter?: string
}

/** Karpenter's kinds, a pool, and a claim on each of the nodes, as if it had made them. */
export async function seedKarpenter(api: KubeApi, seed: KarpenterSeed): Promise<void> {
  const { consolidateAfter = '30s', budgets = [{ nodes: '1' }], terminationGracePeriod, expireAfter } = seed
  const apiVersion = 'karpenter.sh/v1'
  for (const definition of karpenterDefinitions()) await api.create(customResourceDefinitions, definition)
  await api.create(nodePools, {
    apiVersion,
    kind: 'NodePool',
    metadata: { name: 'general' },
    spec: { disruption: { consolidationPolicy: 'WhenEmpty', consolidateAfter, budgets } },
  })
  const labels = { [nodePoolLabel]: 'general' }
  for (const name of seed.nodes) {
    const claim = await api.create(nodeClaims, {
      apiVersion,
      kind: 'NodeClaim',
      metadata: { name: `claim-${name}`, labels, finalizers: [terminationFinalizer] },
      spec: {
        ...(terminationGracePeriod === undefined ? {} : { terminationGracePeriod }),
        ...(expireAfter === undefined ? {} : { expireAfter }),
      },
    })
    const status = { nodeName: name, providerID: `sim:///${name}` }
    await api.update(nodeClaims, { ...claim, status }, { subresource: 'status' })
    const body = { metadata: { labels, finalizers: [terminationFinalizer] } }
    await api.patch(nodes, { name }, { type: 'merge', body })
  }
}
