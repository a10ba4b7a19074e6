import type { StatefulSet } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod, PodSpec, PodTemplateSpec } from '@cofferdam/kubernetes/api/core.ts'
import { statefulSets } from '@cofferdam/kubernetes/api/resources.ts'
import type { PersistentVolumeClaim } from '@cofferdam/kubernetes/api/storage.ts'
import { buildPod } from './pod-control.ts'

export const revisionLabel = 'controller-revision-hash'

type StatefulSetSpec = StatefulSet['spec'] & {
  readonly volumeClaimTemplates?: readonly PersistentVolumeClaim[]
  readonly ordinals?: { readonly start?: number }
}

export function firstOrdinal(set: StatefulSet): number {
  return (set.spec as StatefulSetSpec).ordinals?.start ?? 0
}

/** The number at the end of a pod's name, or undefined when the name is not one this set gives. */
export function ordinalOf(set: StatefulSet, pod: Pod): number | undefined {
  const prefix = `${set.metadata.name}-`
  const digits = pod.metadata.name.slice(prefix.length)
  return pod.metadata.name.startsWith(prefix) && /^\d+$/.test(digits) ? Number(digits) : undefined
}

export function buildStatefulPod(
  set: StatefulSet,
  { template, revision, ordinal }: { template: PodTemplateSpec; revision: string; ordinal: number },
): Pod {
  const name = `${set.metadata.name}-${ordinal}`
  const pod = buildPod({ owner: set, type: statefulSets, template, name })
  const claims = (set.spec as StatefulSetSpec).volumeClaimTemplates ?? []
  const claimed = new Set(claims.map((claim) => claim.metadata.name))
  const volumes = [
    ...(template.spec.volumes ?? []).filter((volume) => !claimed.has(volume.name)),
    ...claims.map((claim) => ({
      name: claim.metadata.name,
      persistentVolumeClaim: { claimName: `${claim.metadata.name}-${name}` },
    })),
  ]
  const spec: PodSpec = {
    ...pod.spec,
    hostname: name,
    ...(set.spec.serviceName === undefined ? {} : { subdomain: set.spec.serviceName }),
    ...(volumes.length === 0 ? {} : { volumes }),
  }
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: {
        ...pod.metadata.labels,
        [revisionLabel]: revision,
        'statefulset.kubernetes.io/pod-name': name,
        'apps.kubernetes.io/pod-index': String(ordinal),
      },
    },
    spec,
  }
}

/** The claims one pod of the set needs. They outlive the pod. */
export function buildClaims(set: StatefulSet, ordinal: number): PersistentVolumeClaim[] {
  return ((set.spec as StatefulSetSpec).volumeClaimTemplates ?? []).map((claim) => ({
    ...claim,
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      ...claim.metadata,
      name: `${claim.metadata.name}-${set.metadata.name}-${ordinal}`,
      namespace: set.metadata.namespace as string,
      labels: { ...claim.metadata.labels, ...set.spec.selector.matchLabels },
    },
  }))
}
