import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { maintenanceTaint, type NodeMaintenance } from '@cofferdam/kubernetes/api/kinds/node-maintenance.ts'
import { isCordoned } from '../../../shared/closed-node.ts'
import type { MaintainedNode, Maintenance, UnusableMaintenance } from './snapshot.ts'

export type ParsedMaintenance =
  | { readonly is: 'asking'; readonly maintenance: Maintenance }
  /** Deleted, or given up by its operator, which then uncordons the node. */
  | { readonly is: 'over' }
  | { readonly is: 'unusable'; readonly unusable: UnusableMaintenance }

/** Never throws: the object is another's, and may hold anything. */
export function parseMaintenance({
  apiVersion,
  kind,
  metadata,
  spec,
  status,
}: Omit<NodeMaintenance, 'spec' | 'status'> & {
  readonly spec?: unknown
  readonly status?: unknown
}): ParsedMaintenance {
  const { name, uid = '' } = metadata
  if (metadata.deletionTimestamp !== undefined || fieldOf(status, 'phase') === 'Failed') return { is: 'over' }
  const nodeName = fieldOf(spec, 'nodeName')
  if (typeof nodeName !== 'string' || nodeName === '') {
    const about = { apiVersion, kind, metadata: { name, uid } }
    return { is: 'unusable', unusable: { about, why: 'spec.nodeName is not the name of a node' } }
  }
  const reason = fieldOf(spec, 'reason')
  return {
    is: 'asking',
    maintenance: { name, uid, nodeName, reason: typeof reason === 'string' ? reason : '' },
  }
}

export function parseMaintainedNode(node: Node): MaintainedNode {
  const taints: unknown = node.spec?.taints
  const isTainted = Array.isArray(taints) && taints.some((taint) => fieldOf(taint, 'key') === maintenanceTaint)
  return {
    name: node.metadata.name,
    isTaken: isTainted && isCordoned(node),
    bootID: node.status?.nodeInfo?.bootID ?? '',
  }
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[field] : undefined
}
