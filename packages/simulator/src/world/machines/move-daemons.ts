import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import { keyOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import { deployments } from '@cofferdam/kubernetes/api/resources.ts'
import type { ActorTools } from '../actor.ts'

const hostname = 'kubernetes.io/hostname'
const osdApp = 'rook-ceph-osd'

/**
 * What Rook does when a node was replaced: daemons that were tied to it are tied to the new one. Mons and the like find
 * their data again from the others; OSDs only if their disks moved too.
 */
export async function moveDaemons(
  tools: ActorTools,
  move: { readonly from: string; readonly to: string; readonly withOsds: boolean },
): Promise<void> {
  const { items } = await tools.api.list(deployments)
  for (const deployment of items.filter((one) => isTied(one, move.from))) {
    const app = deployment.spec.template.metadata?.labels?.['app'] ?? ''
    if (!app.startsWith('rook-ceph-') || (app === osdApp && !move.withOsds)) continue
    await tools.api.patch(deployments, keyOf(deployment), {
      type: 'merge',
      body: { spec: { template: { spec: { nodeSelector: { [hostname]: move.to } } } } },
    })
  }
}

function isTied({ spec }: Deployment, node: string): boolean {
  return spec.template.spec.nodeSelector?.[hostname] === node
}
