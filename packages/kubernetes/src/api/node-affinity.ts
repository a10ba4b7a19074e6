import type { Node, NodeSelectorTerm, PodSpec } from './core.ts'
import { isSelected } from './label-selector.ts'

/** Whether the node selector and the required node affinity of a pod take this node. */
export function isNodeChosen(node: Node, spec: Pick<PodSpec, 'nodeSelector' | 'affinity'>): boolean {
  const labels = node.metadata.labels ?? {}
  for (const key in spec.nodeSelector) if (labels[key] !== spec.nodeSelector[key]) return false
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return required === undefined || required.nodeSelectorTerms.some((term) => isTermMet(term, node))
}

function isTermMet({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: Node): boolean {
  // A term without requirements takes no node.
  if (matchExpressions.length === 0 && matchFields.length === 0) return false
  const labels = node.metadata.labels ?? {}
  return (
    matchExpressions.every((requirement) => isMet(requirement, labels[requirement.key])) &&
    matchFields.every((requirement) => isMet(requirement, fieldOf(node, requirement.key)))
  )
}

function fieldOf(node: Node, field: string): string | undefined {
  return field === 'metadata.name' ? node.metadata.name : undefined
}

function isMet(
  { key, operator, values = [] }: NonNullable<NodeSelectorTerm['matchExpressions']>[number],
  value: string | undefined,
): boolean {
  if (operator === 'Gt') return value !== undefined && Number(value) > Number(values[0])
  if (operator === 'Lt') return value !== undefined && Number(value) < Number(values[0])
  return isSelected({ matchExpressions: [{ key, operator, values }] }, value === undefined ? {} : { [key]: value })
}
