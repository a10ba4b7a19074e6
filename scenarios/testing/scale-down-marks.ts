import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'

const about = /^(cluster-autoscaler\.kubernetes\.io|karpenter\.sh|cofferdam\.io\/kept)/

/** Which annotations of a node are about autoscalers. */
export async function marksOn({ api }: { readonly api: KubeApi }, name: string): Promise<string[]> {
  const { metadata } = await api.get(nodes, { name })
  return Object.keys(metadata.annotations ?? {})
    .filter((key) => about.test(key))
    .sort()
}
