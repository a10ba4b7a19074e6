import { isJsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { openshiftMachineNamespace } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { rookLabelsAnnotation } from './marks.ts'
import type { FencingSettings } from './snapshot.ts'

const maxEvidenceAgeMs = 60_000

/**
 * What a CephCluster says about fencing. A value that cannot be used is named, and the default counts instead. Without Machines a
 * budget selects nothing and is kept for what is recorded on it, beside its CephCluster.
 */
export function parseFencingSettings({ metadata, spec }: CephCluster, areMachinesServed = true): FencingSettings {
  const usual = areMachinesServed ? openshiftMachineNamespace : (metadata.namespace ?? '')
  const section: unknown = spec?.disruptionManagement
  const { manageMachineDisruptionBudgets: managed, machineDisruptionBudgetNamespace: namespace } = (
    isJsonObject(section) ? section : {}
  ) as Readonly<Record<string, unknown>>
  const problems: string[] = []
  const at = 'spec.disruptionManagement'
  if (managed !== undefined && typeof managed !== 'boolean') {
    problems.push(`${at}.manageMachineDisruptionBudgets is neither true nor false; true counts`)
  }
  const isNamespace = typeof namespace === 'string' && /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(namespace)
  if (namespace !== undefined && namespace !== '' && !isNamespace) {
    problems.push(`${at}.machineDisruptionBudgetNamespace is no name of a namespace; ${usual} counts`)
  }
  const isExternal = spec?.external?.enable === true
  const rookLabels = metadata.annotations?.[rookLabelsAnnotation]
  if (rookLabels !== undefined && rookLabels !== 'true' && rookLabels !== 'false') {
    problems.push(`annotation ${rookLabelsAnnotation} is neither "true" nor "false"; "false" counts`)
  }
  return {
    isManaged: managed !== false && !isExternal,
    ...(isExternal ? { isExternal } : {}),
    budgetNamespace: isNamespace ? namespace : usual,
    writesRookLabels: rookLabels === 'true',
    maxEvidenceAgeMs,
    problems,
  }
}
