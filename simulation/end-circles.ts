import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { type NodeDisruption, nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import type { Stage } from './stage/open-stage.ts'

/**
 * Where a request and a drain of kured wait for each other, as docs/longhorn-drain.md tells, somebody takes the way out that stands there:
 * `cofferdam uncordon` ends a request that is Draining. Returns whom that befell.
 */
export async function endCircles(stage: Pick<Stage, 'views' | 'api' | 'kured'>): Promise<readonly string[]> {
  const circles = [...stage.views.of(nodeDisruptions).values()].filter((request) => isInCircle(stage, request))
  for (const { metadata } of circles) await stage.api.delete(nodeDisruptions, { name: metadata.name })
  return circles.map(({ metadata }) => metadata.name)
}

/** It says itself that the node which kured keeps closed is the place that its copies lack. */
function isInCircle({ views, kured }: Pick<Stage, 'views' | 'kured'>, { status }: NodeDisruption): boolean {
  if (status?.phase !== 'Draining') return false
  const kept = [...views.of(nodes).values()].filter(
    ({ metadata, spec }) => spec?.unschedulable === true && kured?.isRebootRequired(metadata.name) === true,
  )
  return (status.blockedBy ?? []).some(
    ({ reason, wayOut }) =>
      reason === 'NoPlaceForReplica' && kept.some(({ metadata }) => wayOut.includes(`${metadata.name} is cordoned`)),
  )
}
