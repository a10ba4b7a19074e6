import { expect, it } from 'vitest'
import { buildUserRoles } from './user-roles.ts'

interface Role {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
  readonly rules?: readonly { readonly verbs: readonly string[] }[]
}
const roles = buildUserRoles() as unknown as readonly Role[]
const mayWrite = ({ rules = [] }: Role) => rules.some(({ verbs }) => verbs.includes('create'))

it('no role that may request a drain becomes part of a role of Kubernetes: everybody with `edit` could empty nodes', () => {
  const aggregated = roles.filter(({ metadata }) =>
    Object.keys(metadata.labels).some((label) => label.startsWith('rbac.authorization.k8s.io/')),
  )
  expect(aggregated.map(({ metadata }) => metadata.name)).toEqual(['cofferdam-view'])
  expect(aggregated.filter(mayWrite)).toEqual([])
})

it('no role is put together by Kubernetes: its controller wrote it again while a release was uninstalled, and it stayed', () => {
  expect(roles.filter((role) => 'aggregationRule' in role)).toEqual([])
})
