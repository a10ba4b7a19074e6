import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { PolicyRule } from '@cofferdam/simulator/api-server/access/policy-rule.ts'

const clusterRoles: ResourceType<KubeObject & { readonly rules?: readonly PolicyRule[] }> = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
}

/** Takes the operator's rights in one group of the API away: those verbs, or all. What it returns gives them back. */
export async function takeRights(api: KubeApi, group: string, verbs?: readonly string[]): Promise<() => Promise<void>> {
  const { items } = await api.list(clusterRoles)
  const ours = items.filter(({ metadata }) => metadata.name.startsWith('cofferdam'))
  for (const role of ours) {
    const rules = (role.rules ?? []).map((rule) => {
      if (rule.apiGroups?.includes(group) !== true) return rule
      return { ...rule, verbs: verbs === undefined ? [] : rule.verbs.filter((verb) => !verbs.includes(verb)) }
    })
    await api.update(clusterRoles, { ...role, rules: rules.filter((rule) => rule.verbs.length > 0) })
  }
  return async () => {
    for (const { metadata, rules = [] } of ours) {
      const { name } = metadata
      await api.patch(clusterRoles, { name }, { type: 'merge', body: { rules } as unknown as JsonObject })
    }
  }
}
