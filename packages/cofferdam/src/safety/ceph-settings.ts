import { isJsonObject, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { isRooks, nameOf } from '../shared/ceph-trust/named-clusters.ts'
import type { CephClusterView, DisruptionSettings } from './ceph-cluster-view.ts'
import { decideOwnership, hasRooksBudgets, type OwnershipQuestion } from './ceph-ownership.ts'
import { failureDomainTypes } from './domain-type.ts'
import { ignoredPoolsAnnotation, parseIgnoredPools } from './ignored-pools.ts'

const annotations = {
  failureDomain: 'cofferdam.io/failure-domain',
  maxDomains: 'cofferdam.io/max-domains',
  rookImage: 'cofferdam.io/rook-image',
} as const

export const defaultSettings: DisruptionSettings = {
  osdMaintenanceTimeoutMinutes: 30,
  pgHealthyRegex: undefined,
  failureDomainOverride: undefined,
  maxDomains: 1,
  ignoredPools: [],
  silenceGraceMs: 30_000,
  warnings: [],
}

const deadFields = ['pgHealthCheckTimeout']

/** What a CephCluster says about its budgets. A value that cannot be used is named, and the default counts instead. */
export function parseDisruptionSettings(cluster: KubeObject): DisruptionSettings {
  const section = disruptionSection(cluster)
  const notes = cluster.metadata.annotations ?? {}
  const warnings = deadFields
    .filter((field) => section[field] !== undefined)
    .map((field) => `spec.disruptionManagement.${field} is accepted and has no effect`)

  if (notes[annotations.rookImage] !== undefined) {
    warnings.push(`annotation ${annotations.rookImage} has no effect: --rook-image of the operator names the image`)
  }
  const timeout = section['osdMaintenanceTimeout']
  const isTimeout = typeof timeout === 'number' && Number.isInteger(timeout) && timeout >= 0
  if (timeout !== undefined && !isTimeout) {
    warnings.push(
      `spec.disruptionManagement.osdMaintenanceTimeout ${JSON.stringify(timeout)} is no number of minutes; ${defaultSettings.osdMaintenanceTimeoutMinutes} is used`,
    )
  }
  const regex = section['pgHealthyRegex']
  if (regex !== undefined && typeof regex !== 'string') {
    warnings.push('spec.disruptionManagement.pgHealthyRegex is no text; the default pattern is used')
  }
  const type = notes[annotations.failureDomain]
  const isType = (failureDomainTypes as readonly (string | undefined)[]).includes(type)
  if (type !== undefined && !isType) {
    warnings.push(`annotation ${annotations.failureDomain} ${JSON.stringify(type)} is no type of failure domain`)
  }
  const most = notes[annotations.maxDomains]
  const isCount = most !== undefined && /^[1-9]\d{0,3}$/.test(most)
  if (most !== undefined && !isCount) {
    warnings.push(`annotation ${annotations.maxDomains} ${JSON.stringify(most)} is no count of at least 1; 1 is used`)
  }
  const pools = parseIgnoredPools(notes[ignoredPoolsAnnotation])
  return {
    ...defaultSettings,
    // Rook reads 0 as "not given".
    ...(isTimeout && timeout > 0 ? { osdMaintenanceTimeoutMinutes: timeout } : {}),
    ...(typeof regex === 'string' && regex !== '' ? { pgHealthyRegex: regex } : {}),
    ...(isType ? { failureDomainOverride: type } : {}),
    ...(isCount ? { maxDomains: Number(most) } : {}),
    ignoredPools: pools.ignored,
    warnings: [...warnings, ...pools.warnings],
  }
}

/** A cluster with what its administrator says of it, and what is said and not done among the warnings. */
export function parseCephCluster(cluster: KubeObject, question: Omit<OwnershipQuestion, 'cluster'>): CephClusterView {
  const { namespace = '', name, uid = '' } = cluster.metadata
  const { budgets, updates, problems } = decideOwnership({ ...question, cluster })
  const settings = parseDisruptionSettings(cluster)
  const managesBudgets = hasRooksBudgets(cluster)
  const isBesideRook = isRooks(question.trust, nameOf(cluster), question)
  const isAway = isBesideRook && !question.rookRuns && managesBudgets && budgets !== 'manage'
  return {
    namespace,
    name,
    uid,
    mode: budgets,
    updates,
    ...(isBesideRook ? { rook: { managesBudgets } } : {}),
    settings: {
      ...settings,
      warnings: [...settings.warnings, ...problems, ...(isAway ? [rookAwayText(`${namespace}/${name}`)] : [])],
    },
  }
}

function rookAwayText(key: string): string {
  return `Rook's operator does not run, so no operator updates the budgets of ${key}; they stay as they are until it is back, or until they are handed over with cofferdam adopt cephcluster/${key}`
}

function disruptionSection(cluster: KubeObject): JsonObject {
  const { spec } = cluster as { readonly spec?: unknown }
  const section = isJsonObject(spec) ? spec['disruptionManagement'] : undefined
  return isJsonObject(section) ? section : {}
}
