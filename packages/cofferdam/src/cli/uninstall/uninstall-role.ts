import { subjectAccessReviews } from '@cofferdam/kubernetes/api/authorization.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import {
  configMaps,
  daemonSets,
  deployments,
  leases,
  podDisruptionBudgets,
  pods,
} from '@cofferdam/kubernetes/api/resources.ts'
import { longhornDrainPermissions } from '../../capabilities/longhorn-drain/controller/controller.ts'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import { disruptionLedgers } from '../../shared/kinds/disruption-ledger.ts'
import type { Trace } from '../../shared/trace.ts'
import { definitionTraces, policyOfAdministrators, policyTraces } from './installed-objects.ts'

/** The ClusterRole with which a user can run the command, and no more: it is bound for that time, and deleted afterwards. */
export function buildUninstallRole(traces: readonly Trace[]): JsonObject {
  const rules = [
    ...[...policyTraces, ...traces, policyOfAdministrators, ...definitionTraces].map(takesOff),
    ...readsOfLonghorn(),
    right(cephClusters, ['get', 'list', 'patch']),
    right(configMaps, ['get']),
    right(daemonSets, ['list']),
    right(deployments, ['list']),
    right(deployments, ['patch'], [operatorAccount.name]),
    right(disruptionLedgers, ['get']),
    right(leases, ['get', 'delete'], [operatorAccount.name]),
    right(podDisruptionBudgets, ['list', 'watch']),
    right(pods, ['get', 'list']),
    right(subjectAccessReviews, ['create']),
  ]
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'cofferdam-uninstall' },
    rules: merged(rules),
  }
}

interface Rule {
  readonly group: string
  readonly resource: string
  readonly verbs: readonly string[]
  readonly names: readonly string[]
}

function right({ group, plural }: ResourceType, verbs: readonly string[], names: readonly string[] = []): Rule {
  return { group, resource: plural, verbs, names }
}

function takesOff({ type, place, subresource }: Trace): Rule {
  if (subresource !== undefined) {
    return { group: type.group, resource: `${type.plural}/${subresource}`, verbs: ['patch'], names: [] }
  }
  const name = typeof place === 'object' ? place.name : undefined
  return name === undefined ? right(type, ['list', 'patch', 'delete']) : right(type, ['get', 'patch', 'delete'], [name])
}

/** The command decides with the views of the operator. */
function readsOfLonghorn(): Rule[] {
  return longhornDrainPermissions
    .filter(({ verbs }) => verbs.includes('list'))
    .map(({ group, resource }) => ({ group, resource, verbs: ['list'], names: [] }))
}

/** One rule for each resource and its names, with all verbs. */
function merged(rules: readonly Rule[]): JsonObject[] {
  const verbs = new Map<string, { readonly rule: Rule; readonly verbs: Set<string> }>()
  for (const rule of rules) {
    const key = [rule.group, rule.resource, ...rule.names].join(' ')
    const found = verbs.get(key) ?? { rule, verbs: new Set<string>() }
    for (const verb of rule.verbs) found.verbs.add(verb)
    verbs.set(key, found)
  }
  return [...verbs.values()].map(({ rule: { group, resource, names }, verbs: all }) => ({
    apiGroups: [group],
    resources: [resource],
    ...(names.length === 0 ? {} : { resourceNames: names }),
    verbs: [...all].sort(),
  }))
}
