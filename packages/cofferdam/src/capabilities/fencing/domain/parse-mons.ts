import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf, type KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { FencedMon } from './snapshot.ts'

/** The monitors of one namespace, as Rook deploys them, and where their pods are. Each Deployment is one monitor. */
export function parseMons(deployments: readonly Deployment[], pods: readonly Pod[]): readonly FencedMon[] {
  return deployments
    .filter(isMon)
    .flatMap((deployment) => monOf(deployment) ?? [])
    .sort()
    .map((name) => ({
      name,
      places: pods
        .filter((pod) => isMon(pod) && monOf(pod) === name)
        .flatMap((pod) => {
          const { nodeName } = pod.spec
          const isReady = pod.metadata.deletionTimestamp === undefined && conditionOf(pod, 'Ready')?.status === 'True'
          return nodeName === undefined ? [] : [{ nodeName, isReady }]
        }),
    }))
}

/** A mgr has the same label for its name. */
function isMon({ metadata }: KubeObject): boolean {
  return metadata.labels?.['app'] === 'rook-ceph-mon'
}

function monOf({ metadata }: KubeObject): string | undefined {
  return metadata.labels?.['mon'] ?? metadata.labels?.['ceph_daemon_id']
}
