import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { TableColumn } from '../resource-definition.ts'
import { ageColumn, column, nameColumn, wideColumn } from './column.ts'

interface RoleBinding extends KubeObject {
  readonly roleRef: { readonly kind: string; readonly name: string }
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[]
}

/** For RoleBindings and ClusterRoleBindings alike. */
export const roleBindingColumns: readonly TableColumn[] = [
  nameColumn,
  column<RoleBinding>('Role', ({ roleRef }) => `${roleRef.kind}/${roleRef.name}`),
  ageColumn,
  wideColumn<RoleBinding>('Users', (binding) => subjectsOf(binding, 'User')),
  wideColumn<RoleBinding>('Groups', (binding) => subjectsOf(binding, 'Group')),
  wideColumn<RoleBinding>('ServiceAccounts', (binding) => subjectsOf(binding, 'ServiceAccount')),
]

function subjectsOf({ subjects = [] }: RoleBinding, kind: string): string {
  return subjects
    .filter((subject) => subject.kind === kind)
    .map(({ name, namespace }) => (kind === 'ServiceAccount' && namespace ? `${namespace}/${name}` : name))
    .join(', ')
}
