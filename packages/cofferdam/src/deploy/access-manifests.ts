import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { AccessPart, Permission } from '../shared/permission.ts'
import { cephParts } from '../shared/permission.ts'
import { operatorLabels as labels, operatorAccount } from './operator-manifests.ts'

type Permissions = Readonly<Record<string, readonly Permission[]>>

const { namespace, name } = operatorAccount
const subjects = [{ kind: 'ServiceAccount', name, namespace }]
const rbac = 'rbac.authorization.k8s.io'

/** Nothing runs in the operator's own namespace that could leave its container. */
const podSecurity = Object.fromEntries(
  ['enforce', 'audit', 'warn'].map((mode) => [`pod-security.kubernetes.io/${mode}`, 'restricted']),
)

/**
 * The operator's identity, and the rights that every installation needs: one role per controller, so that a reader sees who
 * needs what. Nothing here is in a namespace of others.
 */
export function buildAccess(permissions: Permissions): JsonObject[] {
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels: { ...labels, ...podSecurity } } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace, labels } },
    ...Object.entries(permissions).flatMap(([controller, rights]) => {
      const base = rights.filter(({ grantedBy }) => grantedBy === undefined)
      return grantWhereNamed(`cofferdam:${controller}`, base)
    }),
    ...grant('cofferdam:leader-lease', namespace, [
      // A create cannot be limited to a name: the name is not known to the authorizer then.
      { group: 'coordination.k8s.io', resource: 'leases', verbs: ['create'] },
      { group: 'coordination.k8s.io', resource: 'leases', names: [name], verbs: ['get', 'list', 'update'] },
    ]),
  ]
}

/** Namespaces of the storage that the operator may change. */
export interface StoragePlaces {
  /** Default: none. */
  readonly ceph?: readonly string[]
  /** Default: the one that Longhorn's rights name. */
  readonly longhorn?: readonly string[]
}

/** The rights of one part: where the storage is, for the others where the rights say. */
export function buildPartAccess(part: AccessPart, permissions: Permissions, places: StoragePlaces = {}): JsonObject[] {
  return Object.entries(permissions).flatMap(([controller, rights]) => {
    const role = `cofferdam:${part}:${controller}`
    const own = rights.filter(({ grantedBy }) => grantedBy === part)
    if (cephParts.includes(part)) return (places.ceph ?? []).flatMap((where) => grant(role, where, own))
    const { longhorn } = places
    const isMoved = part === 'longhorn' && longhorn !== undefined
    return grantWhereNamed(role, isMoved ? own.flatMap((right) => placedIn(longhorn, right)) : own)
  })
}

function placedIn(namespaces: readonly string[], right: Permission): readonly Permission[] {
  return right.namespace === undefined ? [right] : namespaces.map((where) => ({ ...right, namespace: where }))
}

/** Each right in the namespace that it names, or everywhere. */
function grantWhereNamed(role: string, rights: readonly Permission[]): JsonObject[] {
  const places = [...new Set(rights.map((right) => right.namespace))]
  return places
    .sort((a, b) => ((a ?? '') < (b ?? '') ? -1 : 1))
    .flatMap((where) =>
      grant(
        role,
        where,
        rights.filter((right) => right.namespace === where),
      ),
    )
}

/** A role and who has it: in one namespace, or everywhere. */
function grant(role: string, where: string | undefined, rights: readonly Permission[]): JsonObject[] {
  if (rights.length === 0) return []
  const kind = where === undefined ? 'ClusterRole' : 'Role'
  const metadata = { name: role, ...(where === undefined ? {} : { namespace: where }), labels }
  return [
    {
      apiVersion: `${rbac}/v1`,
      kind,
      metadata,
      rules: rights.map(({ group, resource, names, verbs }) => ({
        apiGroups: [group],
        resources: [resource],
        ...(names === undefined ? {} : { resourceNames: names }),
        verbs,
      })),
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: rbac, kind, name: role },
      subjects,
    },
  ]
}

/**
 * The right to ask Ceph through its toolbox pod, in the one namespace where that runs.
 *
 * Not among the operator's other rights: to run programs in pods is a large right, and whoever gives the operator a
 * `ceph.conf` does not need it.
 */
export function buildToolboxAccess({ namespace: where }: { readonly namespace: string }): JsonObject[] {
  const metadata = { name: 'cofferdam:ceph-toolbox', namespace: where, labels }
  return [
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata,
      // Clients that speak WebSocket ask with GET, for which servers want `get`, and newer ones `create` as well.
      rules: [{ apiGroups: [''], resources: ['pods/exec'], verbs: ['create', 'get'] }],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'Role', name: metadata.name },
      subjects,
    },
  ]
}
