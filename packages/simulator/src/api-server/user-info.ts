export interface UserInfo {
  readonly username: string
  readonly uid?: string
  readonly groups: readonly string[]
}

/** May do everything, as `system:masters` may on a real server. */
export const clusterAdmin: UserInfo = {
  username: 'cofferdam:admin',
  groups: ['system:masters', 'system:authenticated'],
}

export function serviceAccountUser(namespace: string, name: string): UserInfo {
  return {
    username: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  }
}
