import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { UserInfo } from '../user-info.ts'
import { type AccessAttributes, isAllowedBy, type PolicyRule, type Role, type RoleBinding } from './policy-rule.ts'

/** Where roles and bindings are read from. The same array means that nothing changed. */
export interface RoleReader {
  clusterRoles(): readonly KubeObject[]
  clusterRoleBindings(): readonly KubeObject[]
  roles(namespace: string): readonly KubeObject[]
  roleBindings(namespace: string): readonly KubeObject[]
}

interface AccessDecision {
  readonly allowed: boolean
  /** Empty when nothing allows it and nothing went wrong. */
  readonly reason: string
}

export interface RbacAuthorizer {
  isAllowed(user: UserInfo, attributes: AccessAttributes): boolean
  decide(user: UserInfo, attributes: AccessAttributes): AccessDecision
  /** Every rule that holds for the user in the namespace, cluster-wide ones included. */
  rulesFor(user: UserInfo, namespace: string): readonly PolicyRule[]
}

const mastersRules: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

/**
 * Role-based access control over what the reader shows at the time of the request.
 *
 * Fails closed: a binding to a role that is not there, or of a kind that is not known, allows nothing.
 */
export function createRbacAuthorizer(read: RoleReader): RbacAuthorizer {
  const rolesByName = memoizeByArray(indexByName)
  const clusterRolesByName = memoizeByArray(aggregate)

  function* grants(user: UserInfo, namespace: string): Generator<Grant> {
    const clusterRoles = clusterRolesByName(read.clusterRoles())
    for (const binding of read.clusterRoleBindings() as readonly RoleBinding[]) {
      const subject = subjectOf(binding, user, '')
      const role = binding.roleRef.kind === 'ClusterRole' ? clusterRoles.get(binding.roleRef.name) : undefined
      if (subject !== undefined && role !== undefined) yield { binding, subject, rules: role.rules ?? [] }
    }
    if (namespace === '') return
    for (const binding of read.roleBindings(namespace) as readonly RoleBinding[]) {
      const subject = subjectOf(binding, user, namespace)
      if (subject === undefined) continue
      const { kind, name } = binding.roleRef
      const known =
        kind === 'ClusterRole' ? clusterRoles : kind === 'Role' ? rolesByName(read.roles(namespace)) : undefined
      const role = known?.get(name)
      if (role !== undefined) yield { binding, subject, rules: role.rules ?? [] }
    }
  }

  function decide(user: UserInfo, attributes: AccessAttributes): AccessDecision {
    if (user.groups.includes('system:masters')) return { allowed: true, reason: '' }
    // A URL that is no resource lies in no namespace.
    const namespace = attributes.path === undefined ? (attributes.namespace ?? '') : ''
    for (const grant of grants(user, namespace)) {
      if (grant.rules.some((rule) => isAllowedBy(rule, attributes))) {
        return { allowed: true, reason: `RBAC: allowed by ${grantText(grant)}` }
      }
    }
    return { allowed: false, reason: '' }
  }

  const verdicts = new WeakMap<UserInfo, Map<string, Verdict>>()

  /** The same question again, while no role and no binding changed, has the same answer. */
  function isAllowed(user: UserInfo, attributes: AccessAttributes): boolean {
    const { namespace = '' } = attributes
    const basis = [read.clusterRoles(), read.clusterRoleBindings()]
    if (namespace !== '') basis.push(read.roles(namespace), read.roleBindings(namespace))
    const held = verdicts.get(user) ?? new Map<string, Verdict>()
    verdicts.set(user, held)
    const key = questionText(attributes)
    const last = held.get(key)
    if (last?.basis.every((part, index) => part === basis[index])) return last.allowed
    const { allowed } = decide(user, attributes)
    if (held.size >= mostVerdicts) held.clear()
    held.set(key, { basis, allowed })
    return allowed
  }

  return {
    decide,
    isAllowed,
    rulesFor(user, namespace) {
      const own = user.groups.includes('system:masters') ? mastersRules : []
      return [...own, ...[...grants(user, namespace)].flatMap(({ rules }) => rules)]
    },
  }
}

const mostVerdicts = 1_000

/** Another text for each question: no part can be taken for the beginning of the next. */
function questionText(asked: AccessAttributes): string {
  const { verb, group, resource, subresource = '', namespace = '', name = '', path } = asked
  const lengths = `${verb.length},${group.length},${resource.length},${subresource.length},${namespace.length}`
  const isPath = path === undefined ? '' : `,${name.length}`
  return `${lengths}${isPath} ${verb}${group}${resource}${subresource}${namespace}${name}${path ?? ''}`
}

interface Verdict {
  /** All roles and bindings that it was drawn from. */
  readonly basis: readonly (readonly KubeObject[])[]
  readonly allowed: boolean
}

interface Grant {
  readonly binding: RoleBinding
  readonly subject: string
  readonly rules: readonly PolicyRule[]
}

function grantText({ binding, subject }: Grant): string {
  const { name, namespace } = binding.metadata
  const what = namespace === undefined ? `ClusterRoleBinding "${name}"` : `RoleBinding "${name}/${namespace}"`
  return `${what} of ${binding.roleRef.kind} "${binding.roleRef.name}" to ${subject}`
}

/** The first subject of the binding that is this user, in words. */
function subjectOf({ subjects }: RoleBinding, user: UserInfo, bindingNamespace: string): string | undefined {
  for (const { kind, name, namespace } of subjects ?? []) {
    if (kind === 'User' && name === user.username) return `User "${name}"`
    if (kind === 'Group' && user.groups.includes(name)) return `Group "${name}"`
    const home = namespace || bindingNamespace
    if (kind === 'ServiceAccount' && home !== '' && user.username === `system:serviceaccount:${home}:${name}`) {
      return `ServiceAccount "${name}/${home}"`
    }
  }
  return undefined
}

function indexByName(roles: readonly KubeObject[]): ReadonlyMap<string, Role> {
  return new Map((roles as readonly Role[]).map((role) => [role.metadata.name, role]))
}

/** Cluster roles by name; one with an aggregation rule has the rules of all that its selectors choose, beside its own. */
function aggregate(clusterRoles: readonly KubeObject[]): ReadonlyMap<string, Role> {
  const byName = new Map(indexByName(clusterRoles))
  for (const role of clusterRoles as readonly Role[]) {
    if (role.aggregationRule === undefined) continue
    byName.set(role.metadata.name, {
      ...role,
      rules: aggregatedRules(role, clusterRoles as readonly Role[], new Set()),
    })
  }
  return byName
}

function aggregatedRules(role: Role, all: readonly Role[], visited: Set<Role>): readonly PolicyRule[] {
  if (visited.has(role)) return []
  visited.add(role)
  const selectors = role.aggregationRule?.clusterRoleSelectors ?? []
  const chosen = all.filter(({ metadata }) => selectors.some((selector) => isSelected(selector, metadata.labels)))
  return [...(role.rules ?? []), ...chosen.flatMap((each) => aggregatedRules(each, all, visited))]
}

function memoizeByArray<T>(compute: (objects: readonly KubeObject[]) => T): (objects: readonly KubeObject[]) => T {
  const known = new WeakMap<readonly KubeObject[], T>()
  return (objects) => {
    const value = known.get(objects) ?? compute(objects)
    known.set(objects, value)
    return value
  }
}
