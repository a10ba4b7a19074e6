import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { buildRequest } from '@cofferdam/product/cli/drain/drain-request.ts'
import { appLockAnnotation } from '@cofferdam/product/shared/app-lock-annotation.ts'
import { nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'

/** What people do to a cluster in another window. */
export function createUser(api: KubeApi) {
  const annotate = (annotations: Readonly<Record<string, string | null>>) =>
    ({ type: 'merge', body: { metadata: { annotations } } }) as const
  return {
    /** `cofferdam lock pdb/shop/orders --for 1h --reason rebalancing` */
    async lock(namespace: string, name: string): Promise<void> {
      const until = new Date(realClock.now() + 3_600_000).toISOString()
      const lock = JSON.stringify({ holder: 'ann', reason: 'rebalancing', until })
      await api.patch(podDisruptionBudgets, { namespace, name }, annotate({ [appLockAnnotation]: lock }))
    },
    async unlock(namespace: string, name: string): Promise<void> {
      await api.patch(podDisruptionBudgets, { namespace, name }, annotate({ [appLockAnnotation]: null }))
    },
    /** `cofferdam drain NODE`; resolves to the name of the request. */
    async drain(nodeName: string): Promise<string> {
      const wanted = { nodeName, intent: 'Reboot', requester: 'ann', honourSkipDrain: true, accepts: [] } as const
      const { metadata } = await api.create(nodeDisruptions, buildRequest({ ...wanted, nowMs: realClock.now() }))
      return metadata.name
    },
    /** `cofferdam uncordon NODE` */
    async cancel(request: string): Promise<void> {
      await api.delete(nodeDisruptions, { name: request })
    },
    async cordon(name: string, isCordoned: boolean): Promise<void> {
      await api.patch(nodes, { name }, { type: 'merge', body: { spec: { unschedulable: isCordoned || null } } })
    },
    async cutPower(name: string): Promise<void> {
      await api.patch(nodes, { name }, annotate({ 'cofferdam.io/power': 'off' }))
    },
    async nodeOf(namespace: string, name: string): Promise<string> {
      return (await api.get(pods, { namespace, name })).spec.nodeName as string
    },
  }
}
