import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { type NodeClaim, nodeClaims } from '@cofferdam/kubernetes/api/kinds/karpenter.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { PodDisruptionBudget } from '@cofferdam/kubernetes/api/policy.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { nodes, podDisruptionBudgets, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { Informers, OptionalInformerOptions } from '@cofferdam/kubernetes/informers/informers.ts'
import type { Log } from '@cofferdam/kubernetes/runtime/log.ts'
import { type ClaimView, parseClaim } from '../capabilities/autoscalers/domain/parse-claim.ts'
import { parseMarkedNode } from '../capabilities/autoscalers/domain/snapshot.ts'
import { parseDrainedNode } from '../capabilities/drain-detection/domain/snapshot.ts'
import { parseCountedNode } from '../capabilities/drain-lock/observe/limits.ts'
import {
  type HostedPod,
  parseHoldableBudget,
  parseHostedPod,
  parseHostNode,
} from '../capabilities/drain-lock/observe/objects.ts'
import {
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
        project: (node) => ({
          ...parseHostNode(node),
          ...parseGuardedNode(node),
          ...parseDrainedNode(node),
          ...parseCountedNode(node),
          ...parseMarkedNode(node),
        }),
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

/** There are so many that their fields are not gathered by chance: what the others have beside those of a drain is named. */
function parseSharedPod(pod: Pod): PodOnNode & GuardedPod & HostedPod {
  const { mustLeave, isEvicted } = parsePodOnNode(pod)
  const { isCounted } = parseGuardedPod(pod)
  return { ...parseHostedPod(pod), mustLeave, isEvicted, isCounted }
}

/** With its resourceVersion, which every write of it needs; so it also changes with its status, which is left out. */
function slimBudget({ apiVersion, kind, metadata, spec }: PodDisruptionBudget): PodDisruptionBudget {
  const { managedFields: _, ...kept } = metadata
  return { apiVersion, kind, metadata: kept, spec }
}
