import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'

/** A mon or mgr of a cluster, as its Deployment says. */
export interface CephDaemon {
  /** `rook-ceph-mon-a` */
  readonly metadata: { readonly namespace: string; readonly name: string }
  readonly image: string | undefined
  /** No pod of an older template is left, and one of the newest is ready. */
  readonly isRolledOut: boolean
}

/** Selects the Deployments of daemons that are updated before OSDs. */
export const firstDaemonsSelector = 'app in (rook-ceph-mon,rook-ceph-mgr)'

const mainContainers: readonly string[] = ['mon', 'mgr']

export function parseCephDaemon({ metadata, spec, status }: Deployment): CephDaemon {
  const { containers } = spec.template.spec
  const main = containers.find(({ name }) => mainContainers.includes(name)) ?? containers[0]
  const { observedGeneration = 0, replicas = 0, updatedReplicas = 0, readyReplicas = 0 } = status ?? {}
  const { namespace = '', name, generation = 0 } = metadata
  const isObserved = observedGeneration >= generation
  return {
    metadata: { namespace, name },
    image: main?.image,
    isRolledOut: isObserved && updatedReplicas >= 1 && replicas <= updatedReplicas && readyReplicas >= 1,
  }
}

/**
 * Mons and mgrs that do not run the image of the CephCluster yet, each with what it runs. Ceph wants them updated before its OSDs. Where
 * there are no such Deployments there is nothing to wait for.
 */
export function daemonsBehind(daemons: readonly CephDaemon[], { spec }: CephCluster): readonly string[] {
  const wanted = spec?.cephVersion?.image
  if (wanted === undefined) return []
  return daemons.flatMap(({ metadata: { name }, image, isRolledOut }) => {
    if (image !== undefined && image !== wanted) return [`${name} runs ${image}`]
    return isRolledOut ? [] : [`${name} is not ready with the new image`]
  })
}
