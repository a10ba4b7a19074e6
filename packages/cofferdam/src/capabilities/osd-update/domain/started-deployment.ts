import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { adaptOsdDeployment } from './osd-deployment.ts'
import { restartToCarry, withRestart } from './restart-request.ts'
import { markUpdateStarted } from './update-mark.ts'

/** The Deployment as it should be, with the mark of its start. */
export function startedDeployment(deployment: Deployment, cluster: CephCluster, markMs: number): Deployment {
  return markUpdateStarted(wantedDeployment(deployment, cluster, markMs), markMs)
}

/** Whether the write replaces the pod; labels and annotations of the Deployment alone do not. */
export function doesRestart(deployment: Deployment, cluster: CephCluster): boolean {
  const adapted = adaptOsdDeployment(deployment, cluster)
  return adapted === deployment || adapted.spec.template !== deployment.spec.template
}

/** Where nothing of the Deployment itself is to change, what remains is the restart that was asked for. */
function wantedDeployment(deployment: Deployment, cluster: CephCluster, nowMs: number): Deployment {
  const adapted = adaptOsdDeployment(deployment, cluster)
  const askedMs = restartToCarry(cluster, nowMs)
  return askedMs === undefined || !doesRestart(deployment, cluster) ? adapted : withRestart(adapted, askedMs)
}
