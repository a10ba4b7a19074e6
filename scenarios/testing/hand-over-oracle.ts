import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import { podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'

export interface HandOverOracle {
  /** Moments in which OSDs outside the open zones had no budget: their ids. */
  readonly gaps: string[][]
  stop(): Promise<void>
}

/** Watches every commit of a budget: from then on, which running OSDs outside the open zones, or other failure domains, does none select? */
export function watchHandOver(
  { api, namespace }: { readonly api: KubeApi; readonly namespace: string },
  openZones: () => readonly string[] = () => [],
  domainLabel = 'topology-location-zone',
): HandOverOracle {
  const gaps: string[][] = []
  const ending = new AbortController()
  const watching = (async () => {
    for await (const event of api.watch(podDisruptionBudgets, { namespace, signal: ending.signal })) {
      if (event.type === 'BOOKMARK') continue
      const [{ items: budgets }, { items: osds }] = await Promise.all([
        api.list(podDisruptionBudgets, { namespace }),
        api.list(pods, { namespace, labelSelector: 'app=rook-ceph-osd' }),
      ])
      const gap = osds
        .filter(({ metadata }) => !openZones().includes(metadata.labels?.[domainLabel] ?? ''))
        .filter((osd) => !isCovered(osd, budgets))
      if (gap.length > 0) gaps.push(gap.map(({ metadata }) => metadata.labels?.['osd'] ?? ''))
    }
  })()
  return {
    gaps,
    async stop() {
      ending.abort()
      await watching
    },
  }
}

function isCovered({ metadata }: Pod, budgets: readonly PodDisruptionBudget[]): boolean {
  return budgets.some(({ spec }) => isSelected(spec.selector ?? {}, metadata.labels))
}
