import type { Node, NodeSelectorTerm, PodSpec, Taint, Toleration } from '@cofferdam/kubernetes/api/core.ts'

export const unschedulableTaint: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }

export function isTolerated(taint: Taint, tolerations: readonly Toleration[] = []): boolean {
  return tolerations.some((toleration) => tolerates(toleration, taint))
}

export function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { key = '', operator = 'Equal', value = '', effect } = toleration
  if (effect !== undefined && (effect as string) !== '' && effect !== taint.effect) return false
  if (key !== '' && key !== taint.key) return false
  // An empty key is only allowed with Exists, and then means every taint.
  return operator === 'Exists' || (key !== '' && value === (taint.value ?? ''))
}

/** The first taint that keeps new pods away and is not tolerated. */
export function untoleratedTaint(node: Node, tolerations: readonly Toleration[] | undefined): Taint | undefined {
  return node.spec?.taints?.find(
    (taint) => (taint.effect === 'NoSchedule' || taint.effect === 'NoExecute') && !isTolerated(taint, tolerations),
  )
}

/** Whether the node selector and the required node affinity of a pod take this node. */
export function isNodeChosen(node: Node, spec: Pick<PodSpec, 'nodeSelector' | 'affinity'>): boolean {
  const labels = node.metadata.labels ?? {}
  for (const key in spec.nodeSelector) if (labels[key] !== spec.nodeSelector[key]) return false
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return required === undefined || required.nodeSelectorTerms.some((term) => isTermMet(term, node))
}

export function isTermMet({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: Node): boolean {
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
  { operator, values = [] }: { readonly operator: string; readonly values?: readonly string[] },
  value: string | undefined,
): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
      return value !== undefined && Number(value) > Number(values[0])
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0])
    default:
      return false
  }
}

/** The only nodes a pod can go to when every term of its affinity names one, as those of DaemonSet pods do. */
export function namedNodes(spec: PodSpec): readonly string[] | undefined {
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  if (terms === undefined || terms.length === 0) return undefined
  const names: string[] = []
  for (const { matchFields = [] } of terms) {
    const field = matchFields.find(({ key, operator }) => key === 'metadata.name' && operator === 'In')
    if (field === undefined) return undefined
    names.push(...(field.values ?? []))
  }
  return names
}
