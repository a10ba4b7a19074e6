import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { disruptionLedgers } from '../shared/kinds/disruption-ledger.ts'
import { disruptionPolicies } from '../shared/kinds/disruption-policy.ts'
import { nodeDisruptions } from '../shared/kinds/node-disruption.ts'

const labels = { 'app.kubernetes.io/name': 'cofferdam', 'app.kubernetes.io/component': 'users' }
const read = ['get', 'list', 'watch']
const write = ['create', 'delete', 'patch', 'update']

/**
 * What people may do with Cofferdam's objects. Those who may view the cluster see them. To request a drain is no part of Kubernetes' own `edit`: that
 * one lets nobody near a node, so `cofferdam-edit` and `cofferdam-admin` are bound by those who mean it.
 *
 * None is itself put together by Kubernetes: its controller writes such a role again when the roles that it is made of are deleted, and an uninstalled
 * release would leave it behind.
 */
export function buildUserRoles(): JsonObject[] {
  const [requests, ledgers, policies] = [nodeDisruptions.plural, disruptionLedgers.plural, disruptionPolicies.plural]
  const see = on([requests, ledgers, policies], read)
  return [
    role('cofferdam-view', [see], { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' }),
    role('cofferdam-edit', [see, on([requests], write)]),
    role('cofferdam-admin', [see, on([requests, policies], write)]),
  ]
}

const on = (resources: string[], verbs: string[]) => ({ apiGroups: [nodeDisruptions.group], resources, verbs })

function role(name: string, rules: JsonObject[], aggregated: Readonly<Record<string, string>> = {}): JsonObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels: { ...labels, ...aggregated } },
    rules,
  }
}
