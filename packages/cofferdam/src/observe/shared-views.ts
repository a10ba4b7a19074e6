import type { Node, Pod } from '@cofferdam/kubernetes/api/core.ts'
import { type NodeClaim, nodeClaims } from '@cofferdam/kubernetes/api/kinds/karpenter.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { Informers, OptionalInformerOptions } from '@cofferdam/kubernetes/informers/informers.ts'
import type { Log } from '@cofferdam/kubernetes/runtime/log.ts'
import { type ClaimView, parseClaim } from '../capabilities/autoscalers/domain/parse-claim.ts'
import { type MarkedNode, parseMarkedNode } from '../capabilities/autoscalers/domain/snapshot.ts'
import { type DrainedNode, parseDrainedNode } from '../capabilities/drain-detection/domain/snapshot.ts'
import type { CountedNode } from '../capabilities/drain-lock/domain/maintenance-limits.ts'
import { parseCountedNode } from '../capabilities/drain-lock/observe/limits.ts'
import {
  type HostedPod,
  type HostNode,
  parseHoldableBudget,
  parseHostedPod,
  parseHostNode,
} from '../capabilities/drain-lock/observe/objects.ts'
import {
  type GuardedNode,
  type GuardedPod,
  parseGuardedDisruption,
  parseGuardedNode,
  parseGuardedPod,
} from '../eviction-guard/guarded-objects.ts'
import { parseLedger } from '../ledger/rules/parse-ledger.ts'
import { disruptionLedgers } from '../shared/kinds/disruption-ledger.ts'
import { disruptionPolicies } from '../shared/kinds/disruption-policy.ts'
import { nodeDisruptions } from '../shared/kinds/node-disruption.ts'
import { once } from '../shared/once.ts'
import { type PodOnNode, parsePodOnNode } from '../shared/pod-on-node.ts'

export type SharedViews = ReturnType<typeof openSharedViews>

/** Views that several controllers read: each is opened once, when the first asks for it, and keeps what any of them needs. */
export function openSharedViews({ informers, log }: { readonly informers: Informers; readonly log: Log }) {
  /** A kind of ours, which the cluster may not have: the operator came before its definitions. */
  const optional = <T extends KubeObject, V>(
    name: string,
    options: Pick<OptionalInformerOptions<T, V>, 'project' | 'indexes'> & { readonly type: ResourceType<T> },
  ) =>
    once(() =>
      informers.openOptional<T, V>(name, {
        ...options,
        onAbsent: () => log.warn({ resource: options.type.plural }, 'no such kind here: apply deploy/crds'),
      }),
    )
  return {
    nodes: once(() =>
      informers.open('nodes', {
        type: nodes,
        project: parseSharedNode,
      }),
    ),
    pods: once(() =>
      informers.open('pods', {
        type: pods,
        project: parseSharedPod,
        indexes: {
          node: (pod) => [pod.nodeName],
          ceph: ({ namespace, labels }) => (labels['app']?.startsWith('rook-ceph-') ? [namespace] : []),
        },
      }),
    ),
    /** Of Karpenter, which most clusters do not have. */
    claims: once(() =>
      informers.openOptional<NodeClaim, ClaimView>('nodeclaims', {
        type: nodeClaims,
        project: parseClaim,
        indexes: { node: ({ nodeName }) => [nodeName] },
      }),
    ),
    /** With what is held and locked. */
    budgets: once(() =>
      informers.open('poddisruptionbudgets/holds', {
        type: podDisruptionBudgets,
        project: parseHoldableBudget,
        indexes: { namespace: (budget) => [budget.namespace] },
      }),
    ),
    /** As objects, for whoever writes them. */
    plainBudgets: once(() =>
      informers.open('poddisruptionbudgets', {
        type: podDisruptionBudgets,
        project: slimBudget,
        indexes: { namespace: ({ metadata }) => [metadata.namespace ?? ''] },
      }),
    ),
    disruptions: optional('nodedisruptions', {
      type: nodeDisruptions,
      project: (disruption) => ({ ...disruption, ...parseGuardedDisruption(disruption) }),
      indexes: { node: ({ spec }) => [spec.nodeName], requestId: ({ requestId }) => [requestId] },
    }),
    ledgers: optional('disruptionledgers', { type: disruptionLedgers, project: (ledger) => ledger }),
    policies: optional('disruptionpolicies', { type: disruptionPolicies, project: (policy) => policy }),
    parsedLedger: optional('disruptionledgers/parsed', { type: disruptionLedgers, project: parseLedger }),
  }
}

/** Closed to pods counts as cordoned here, as it does to whoever recognises drains. */
function parseSharedNode(node: Node): HostNode & GuardedNode & DrainedNode & CountedNode & MarkedNode {
  const host = parseHostNode(node)
  const { isCordoned, attempt, drainInProgress, drained } = parseDrainedNode(node)
  return {
    name: host.name,
    uid: host.uid,
    bootID: host.bootID,
    isReady: host.isReady,
    isCordoned,
    shutdownGraceSeconds: host.shutdownGraceSeconds,
    cordonedBy: host.cordonedBy,
    isClosed: parseGuardedNode(node).isClosed,
    attempt,
    drainInProgress,
    drained,
    labels: parseCountedNode(node).labels,
    marks: parseMarkedNode(node).marks,
  }
}

/** There are so many that their fields are named one by one: copied from another object, a pod takes several times the memory and time. */
export function parseSharedPod(pod: Pod): PodOnNode & GuardedPod & HostedPod {
  const { mustLeave, isEvicted } = parsePodOnNode(pod)
  const { isCounted } = parseGuardedPod(pod)
  const hosted = parseHostedPod(pod)
  const shared = {
    namespace: hosted.namespace,
    name: hosted.name,
    uid: hosted.uid,
    nodeName: hosted.nodeName,
    labels: hosted.labels,
    kind: hosted.kind,
    isReady: hosted.isReady,
    isLeaving: hosted.isLeaving,
    wantsToStay: hosted.wantsToStay,
    toleratesMs: hosted.toleratesMs,
    losses: hosted.losses,
    mustLeave,
    isEvicted,
    isCounted,
  }
  const { leaving, responders } = hosted
  if (leaving === undefined && responders === undefined) return shared
  return { ...shared, ...(leaving && { leaving }), ...(responders && { responders }) }
}

/** With its resourceVersion, which every write of it needs; so it also changes with its status, which is left out. */
function slimBudget({ apiVersion, kind, metadata, spec }: PodDisruptionBudget): PodDisruptionBudget {
  if (metadata.managedFields === undefined) return { apiVersion, kind, metadata, spec }
  const { managedFields: _, ...kept } = metadata
  return { apiVersion, kind, metadata: kept, spec }
}
