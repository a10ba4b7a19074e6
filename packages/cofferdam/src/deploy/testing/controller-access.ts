import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { AccessPart, Permission } from '../../shared/permission.ts'
import { buildAccess, buildPartAccess } from '../access-manifests.ts'

const parts: readonly AccessPart[] = ['ceph', 'ceph-own-osds', 'ceph-pace', 'ceph-grow-osds', 'longhorn', 'medik8s']

/** Everything that deploy/ grants these controllers, with all of its parts, for Ceph in the namespace `rook-ceph`. */
export function buildWholeAccess(permissions: Readonly<Record<string, readonly Permission[]>>): readonly KubeObject[] {
  const granted = parts.flatMap((part) => buildPartAccess(part, permissions, { ceph: ['rook-ceph'] }))
  return [...buildAccess(permissions), ...granted] as readonly unknown[] as readonly KubeObject[]
}
