import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { isClosedToPods } from '../../../shared/closed-node.ts'
import { type DisruptionPolicy, disruptionPolicySpec } from '../../../shared/kinds/disruption-policy.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import { defaultTtlMs } from '../domain/decide-expiry.ts'
import {
  type CountedNode,
  defaultMaintenancePolicy,
  indexLimits,
  type LimitFacts,
  type MaintenanceLimit,
  type MaintenancePolicy,
} from '../domain/maintenance-limits.ts'

export function parseCountedNode(node: Node): CountedNode {
  const { name, labels = {} } = node.metadata
  return {
    name,
    labels,
    isReady: conditionOf(node, 'Ready')?.status === 'True',
    isClosed: isClosedToPods(node),
  }
}

/** Without a policy the defaults hold; with one that cannot be read, nothing is known. */
export function parsePolicy(object: DisruptionPolicy | undefined): Observed<MaintenancePolicy> {
  if (object === undefined) return known(defaultMaintenancePolicy)
  const parsed = disruptionPolicySpec.safeParse(object.spec ?? {})
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return unknown(
      `disruptionpolicy/cluster cannot be read: spec.${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`,
    )
  }
  const { limits = [], controlPlane } = parsed.data
  return known({
    limits: limits.map(limitOf),
    controlPlaneMost: controlPlane?.maxNodes ?? defaultMaintenancePolicy.controlPlaneMost,
  })
}

/** How long requests are kept after their end; undefined where the policy cannot be read. */
export function ttlOf(object: DisruptionPolicy | undefined): number | undefined {
  const parsed = disruptionPolicySpec.safeParse(object?.spec ?? {})
  if (!parsed.success) return undefined
  const { ttlSecondsAfterFinished: seconds } = parsed.data
  return seconds === undefined ? defaultTtlMs : seconds * 1_000
}

type WrittenLimit = NonNullable<NonNullable<DisruptionPolicy['spec']>['limits']>[number]

/** One that says neither how many nodes nor which share lets none go; the API server takes no such limit. */
function limitOf({ name, nodeSelector, per, maxNodes, maxPercent }: WrittenLimit): MaintenanceLimit {
  return {
    name,
    selector: (nodeSelector ?? {}) as MaintenanceLimit['selector'],
    per,
    most: maxPercent === undefined ? { nodes: maxNodes ?? 0 } : { percent: maxPercent },
  }
}

/** The limits that count a node, from what is seen of all nodes and of the policy. */
export function limitsSeen(
  nodeName: string,
  nodes: Observed<readonly CountedNode[]>,
  policy: Observed<DisruptionPolicy | undefined>,
): Observed<readonly LimitFacts[]> {
  return indexLimitsSeen(nodes, policy)(nodeName)
}

/** The same for one node after the other. */
export function indexLimitsSeen(
  nodes: Observed<readonly CountedNode[]>,
  policy: Observed<DisruptionPolicy | undefined>,
): (nodeName: string) => Observed<readonly LimitFacts[]> {
  if (!nodes.known) return () => nodes
  if (!policy.known) return () => policy
  const parsed = parsePolicy(policy.value)
  if (!parsed.known) return () => parsed
  const limitsOfNode = indexLimits(nodes.value, parsed.value)
  return (nodeName) => known(limitsOfNode(nodeName))
}
