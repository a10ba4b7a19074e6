import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { ConfigMap } from '@cofferdam/kubernetes/api/core.ts'
import { type CephCluster, cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { configMaps, deployments } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type LabelChange, labelPatch } from '../domain/pace-label.ts'
import { overrideName, parseRookPass, passKey, type RookPass } from '../domain/rook-pass.ts'
import type { StartOutcome } from '../domain/start-outcome.ts'
import { outcomeOf } from './apply.ts'

/** Puts the label of an OSD on or takes it off, if its Deployment still is what was seen. */
export function changeLabel(
  api: Pick<KubeApi, 'patch'>,
  change: LabelChange,
  signal: AbortSignal,
): Promise<StartOutcome> {
  const { osd, namespace, name } = change
  return outcomeOf(osd, async () => {
    const patch = { type: 'merge' as const, body: labelPatch(change) }
    const { metadata } = await api.patch(deployments, { namespace, name }, patch, { signal })
    return metadata.resourceVersion
  })
}

/** What Rook does with the cluster now, not as a watch had it a moment ago. */
export async function readRookPass(
  api: Pick<KubeApi, 'get'>,
  { metadata }: CephCluster,
  signal: AbortSignal,
): Promise<RookPass> {
  const { namespace = '', name } = metadata
  const [cluster, overrides] = await Promise.all([
    api.get(cephClusters, { namespace, name }, { signal }),
    readOverrides(api, namespace, signal),
  ])
  return parseRookPass(cluster, overrides)
}

/** Rook reconciles when the data of this ConfigMap changes. What others put there stays. */
export async function requestPass(
  api: Pick<KubeApi, 'patch'>,
  { namespace, token }: { readonly namespace: string; readonly token: string },
  signal: AbortSignal,
): Promise<void> {
  const body = { data: { [passKey]: token } }
  await api.patch(configMaps, { namespace, name: overrideName }, { type: 'merge', body }, { signal })
}

async function readOverrides(
  api: Pick<KubeApi, 'get'>,
  namespace: string,
  signal: AbortSignal,
): Promise<ConfigMap | undefined> {
  try {
    return await api.get(configMaps, { namespace, name: overrideName }, { signal })
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}
