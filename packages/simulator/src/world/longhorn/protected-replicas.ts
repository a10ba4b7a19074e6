import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import {
  type LonghornReplica,
  longhornInstanceManagers,
  longhornReplicas,
} from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { Views } from '../actor.ts'
import { instanceManagerName } from './instance-manager-name.ts'
import { isSet } from './volume-facts.ts'

export interface ProtectionPorts {
  readonly views: Views
  readonly namespace: string
  readonly image: () => string
}

/**
 * Whether the volume has a healthy copy on another node that a drain cannot take away unasked.
 *
 * Fails as Longhorn does: one copy on a node that Kubernetes no longer has, and nobody gets an answer.
 */
export function hasProtectedCopyElsewhere(ports: ProtectionPorts, volume: string, node: string): boolean {
  const { views } = ports
  const index = views.of(longhornReplicas).indexBy('volume', ({ spec }) => [spec?.volumeName ?? ''])
  return [...index(volume)].map((replica) => isProtected(ports, replica) && replica.spec?.nodeID !== node).some(Boolean)
}

function isProtected({ views, namespace, image }: ProtectionPorts, { spec, status }: LonghornReplica): boolean {
  const { nodeID = '', healthyAt, failedAt, dataEngine = 'v1' } = spec ?? {}
  if (!isSet(healthyAt) || isSet(failedAt)) return false
  const node = views.of(nodes).get(nodeID)
  if (node === undefined) throw new ApiError('NotFound', `nodes "${nodeID}" not found`)
  if (node.spec?.unschedulable === true) return false
  const manager = isSet(status?.instanceManagerName)
    ? (status?.instanceManagerName as string)
    : instanceManagerName({ node: nodeID, image: image(), dataEngine })
  return (
    views.of(longhornInstanceManagers).get(`${namespace}/${manager}`)?.status?.currentState === 'running' &&
    views.of(podDisruptionBudgets).get(`${namespace}/${manager}`) !== undefined
  )
}
