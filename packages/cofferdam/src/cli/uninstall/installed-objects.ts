import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { partOfUs } from '@cofferdam/kubernetes/api/resource-definition.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { customResourceDefinitions } from '@cofferdam/kubernetes/api/resources.ts'
import { buildAdmissionPolicies } from '../../deploy/admission-policies.ts'
import { buildCustomResourceDefinitions } from '../../deploy/custom-resource-definitions.ts'
import { disruptionPolicies } from '../../shared/kinds/disruption-policy.ts'
import { type Trace, trace } from '../../shared/trace.ts'

const admission = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false } as const
/** In the order in which they go: a policy without a binding refuses nothing. */
const policyTypes: readonly ResourceType[] = [
  { ...admission, plural: 'validatingadmissionpolicybindings', kind: 'ValidatingAdmissionPolicyBinding' },
  { ...admission, plural: 'validatingadmissionpolicies', kind: 'ValidatingAdmissionPolicy' },
]

/** They refuse others than the operator what an uninstallation writes, so they go before everything else. */
export const policyTraces: readonly Trace[] = policyTypes.flatMap((type) =>
  (buildAdmissionPolicies() as readonly unknown[] as readonly KubeObject[])
    .filter(({ kind }) => kind === type.kind)
    .map(({ metadata: { name } }) =>
      trace({
        type,
        place: { name },
        keys: [],
        removal: () => ({ verb: 'delete', says: 'admission policy' }),
      }),
    ),
)

export const policyOfAdministrators: Trace = trace({
  type: disruptionPolicies,
  keys: [],
  removal: () => ({ verb: 'delete', says: 'limits of administrators' }),
})

/** Their objects are gone before. Another product may use the kind of machine budgets too; then it carries no label of Cofferdam. */
export const definitionTraces: readonly Trace[] = buildCustomResourceDefinitions().map(({ metadata: { name } }) =>
  trace({
    type: customResourceDefinitions,
    place: { name },
    keys: [],
    removal: ({ metadata: { labels = {} } }) =>
      Object.entries(partOfUs).every(([key, value]) => labels[key] === value)
        ? { verb: 'delete', says: 'kind of Cofferdam' }
        : undefined,
  }),
)
