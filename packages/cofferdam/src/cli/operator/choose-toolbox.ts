import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { compareText } from '../../shared/last-writer.ts'

const deploymentName = 'rook-ceph-tools'

/**
 * The pod to run `ceph` in: one that the Deployment of Rook's toolbox made, the oldest that is ready.
 *
 * A label alone can be put on any pod, and whatever its `ceph` answers would be believed. A pod that names the ReplicaSet of the toolbox as
 * its owner without being one of its own is one too many there, and is removed.
 */
export function chooseToolbox(pods: readonly Pod[]): Pod | undefined {
  return pods
    .filter((pod) => isReady(pod) && isOfDeployment(pod))
    .toSorted((a, b) => compareText(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''))[0]
}

function isReady(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp === undefined && conditionOf(pod, 'Ready')?.status === 'True'
}

function isOfDeployment({ metadata: { ownerReferences = [], labels = {} } }: Pod): boolean {
  const owner = ownerReferences.find(({ controller }) => controller === true)
  const hash = labels['pod-template-hash']
  return (
    hash !== undefined &&
    owner?.apiVersion === 'apps/v1' &&
    owner.kind === 'ReplicaSet' &&
    owner.name === `${deploymentName}-${hash}`
  )
}
