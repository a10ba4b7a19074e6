import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { TableColumn } from '../resource-definition.ts'
import { ageColumn, column, nameColumn, wideColumn } from './column.ts'

const rolePrefix = 'node-role.kubernetes.io/'

export const nodeColumns: readonly TableColumn[] = [
  nameColumn,
  column<Node>('Status', statusText),
  column<Node>('Roles', rolesText),
  ageColumn,
  column<Node>('Version', ({ status }) => status?.nodeInfo?.kubeletVersion ?? ''),
  wideColumn<Node>('Internal-IP', (node) => addressOf(node, 'InternalIP')),
  wideColumn<Node>('External-IP', (node) => addressOf(node, 'ExternalIP')),
  wideColumn<Node>('OS-Image', ({ status }) => status?.nodeInfo?.osImage || '<unknown>'),
  wideColumn<Node>('Kernel-Version', kernelText),
  wideColumn<Node>('Container-Runtime', ({ status }) => status?.nodeInfo?.containerRuntimeVersion || '<unknown>'),
]

function statusText(node: Node): string {
  const ready = conditionOf(node, 'Ready')
  const readiness = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady'
  return node.spec?.unschedulable ? `${readiness},SchedulingDisabled` : readiness
}

function rolesText({ metadata }: Node): string {
  const roles = new Set<string>()
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    if (key.startsWith(rolePrefix) && key.length > rolePrefix.length) roles.add(key.slice(rolePrefix.length))
    else if (key === 'kubernetes.io/role' && value !== '') roles.add(value)
  }
  return roles.size === 0 ? '<none>' : [...roles].sort().join(',')
}

function kernelText({ status }: Node): string {
  const kernel = status?.nodeInfo?.kernelVersion || '<unknown>'
  return status?.nodeInfo?.architecture ? `${kernel} (${status.nodeInfo.architecture})` : kernel
}

function addressOf({ status }: Node, type: string): string {
  return status?.addresses?.find((address) => address.type === type)?.address ?? '<none>'
}
