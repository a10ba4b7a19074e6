import type { Node, PodSpec, Taint, Toleration } from '@cofferdam/kubernetes/api/core.ts'

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
