import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { ObjectMeta } from '@cofferdam/kubernetes/api/kube-object.ts'

/** Projections for watch caches: what controllers of Ceph read, and nothing that changes without meaning to them. */
export function slimDeployment({ apiVersion, kind, metadata, spec, status }: Deployment): Deployment {
  const { nodeSelector, affinity } = spec.template.spec
  return {
    apiVersion,
    kind,
    metadata: slimMeta(metadata),
    spec: {
      ...(spec.replicas === undefined ? {} : { replicas: spec.replicas }),
      selector: spec.selector,
      template: {
        metadata: { labels: spec.template.metadata?.labels ?? {} },
        spec: {
          containers: [],
          ...(nodeSelector === undefined ? {} : { nodeSelector }),
          ...(affinity === undefined ? {} : { affinity }),
        },
      },
    },
    status: { replicas: status?.replicas ?? 0, readyReplicas: status?.readyReplicas ?? 0 },
  }
}

/** Rook's own: another image of it makes other Deployments. */
export function slimRookOperator(operator: Deployment): Deployment {
  const slim = slimDeployment(operator)
  const { template } = operator.spec
  const containers = template.spec.containers.map(({ name, image }) => ({
    name,
    ...(image !== undefined && { image }),
  }))
  return {
    ...slim,
    spec: { ...slim.spec, template: { ...slim.spec.template, spec: { ...slim.spec.template.spec, containers } } },
  }
}

export function slimPod({ apiVersion, kind, metadata, spec, status }: Pod): Pod {
  const conditions = (status?.conditions ?? [])
    .filter(({ type }) => type === 'Ready' || type === 'DisruptionTarget')
    .map(({ type, status: value, reason, lastTransitionTime }) => ({
      type,
      status: value,
      ...(reason === undefined ? {} : { reason }),
      ...(type === 'Ready' && lastTransitionTime !== undefined ? { lastTransitionTime } : {}),
    }))
  const { nodeName } = spec
  return {
    apiVersion,
    kind,
    metadata: slimMeta(metadata),
    spec: nodeName === undefined ? { containers: [] } : { containers: [], nodeName },
    status: status?.phase === undefined ? { conditions } : { phase: status.phase, conditions },
  }
}

export function slimCephCluster({ apiVersion, kind, metadata, spec, status }: CephCluster): CephCluster {
  const own = Object.entries(metadata.annotations ?? {}).filter(([key]) => key.startsWith('cofferdam.io/'))
  return {
    apiVersion,
    kind,
    metadata: {
      ...slimMeta(metadata),
      ...(metadata.generation === undefined ? {} : { generation: metadata.generation }),
      annotations: Object.fromEntries(own),
    },
    ...(spec === undefined ? {} : { spec }),
    ...(status === undefined ? {} : { status: slimCephStatus(status) }),
  }
}

function slimCephStatus({ ceph, version }: NonNullable<CephCluster['status']>): NonNullable<CephCluster['status']> {
  return {
    ...(ceph?.fsid === undefined ? {} : { ceph: { fsid: ceph.fsid } }),
    ...(version?.version === undefined ? {} : { version: { version: version.version } }),
  }
}

function slimMeta(metadata: ObjectMeta): ObjectMeta {
  const { name, namespace, uid, creationTimestamp, labels, annotations, ownerReferences, deletionTimestamp } = metadata
  return {
    name,
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(ownerReferences === undefined ? {} : { ownerReferences }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
  }
}
