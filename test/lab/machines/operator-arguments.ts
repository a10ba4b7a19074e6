import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { CephAccess } from '@cofferdam/product/ceph/ceph-access.ts'

/** The CephCluster that the operator acts on; a deployment says so by its arguments. */
export interface LabCluster {
  readonly key: string
  /** Its OSD Deployments are Rook's, not the operator's own. */
  readonly besideRook?: boolean | undefined
  /** With which image it grows. */
  readonly rookImage?: string | undefined
}

export interface OperatorPlace {
  /** All share one network here, so the pod's own port would be taken by the first. */
  readonly port: number
  readonly kubeconfig: string
  readonly ceph: CephAccess | undefined
  readonly cluster?: LabCluster | undefined
  /** Where its eviction guard listens, and where the API server calls it: a Service stands before all of them. */
  readonly guard: { readonly port: number; readonly url: string } | undefined
}

/** The arguments of the pod's container, moved to where this process runs. */
export function operatorArguments(pod: Pod, { port, kubeconfig, ceph, cluster, guard }: OperatorPlace): string[] {
  const container = pod.spec.containers[0] as { readonly args?: readonly string[] } | undefined
  const [command = 'operator', ...given] = container?.args ?? []
  const moved: Readonly<Record<string, string | undefined>> = {
    '--kubeconfig': kubeconfig,
    '--ceph-conf': ceph?.conf,
    '--ceph-name': ceph?.name,
    '--ceph-keyring': ceph?.keyring,
    '--ceph-clusters': cluster?.key,
    '--own-osds': cluster?.besideRook ? undefined : cluster?.key,
    '--grow-osds': cluster?.rookImage === undefined ? undefined : cluster.key,
    '--rook-image': cluster?.rookImage,
    '--health-host': '127.0.0.1',
    '--health-port': String(port),
    '--guard-port': guard && String(guard.port),
    '--guard-url': guard?.url,
  }
  const kept = given.filter((word, index) => !(word in moved) && !((given[index - 1] ?? '') in moved))
  return [
    command,
    ...kept,
    ...Object.entries(moved).flatMap(([flag, value]) => (value === undefined ? [] : [flag, value])),
  ]
}
