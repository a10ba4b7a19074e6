/** One right that a controller needs, as a Role grants it. Kept beside the code that uses it. */
export interface Permission {
  readonly group: string
  /** A resource, or a resource and its subresource: `nodes/status`. */
  readonly resource: string
  /** Only objects of these names; not for `create`, where no name is known. A `list` or `watch` has to select it by `metadata.name`. */
  readonly names?: readonly string[]
  /** Only there; everywhere when absent. */
  readonly namespace?: string
  /** Which part of deploy/ grants it, where not every installation needs it; absent: the base does. */
  readonly grantedBy?: AccessPart
  readonly verbs: readonly ('get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete')[]
}

/**
 * Parts of deploy/ that are applied where they are wanted. `ceph`, `ceph-own-osds`, `ceph-pace` and `ceph-grow-osds` grant their rights in the
 * namespaces of the named Ceph clusters and nowhere else; `longhorn` in the namespace of Longhorn, by default the one that the right names; the others in the
 * namespace that the right itself names. What names none is granted everywhere.
 */
export type AccessPart =
  | 'ceph'
  | 'ceph-own-osds'
  | 'ceph-pace'
  | 'ceph-grow-osds'
  | 'longhorn'
  | 'medik8s'
  | 'kured'
  | 'dashboard'

export const cephParts: readonly AccessPart[] = ['ceph', 'ceph-own-osds', 'ceph-pace', 'ceph-grow-osds']
