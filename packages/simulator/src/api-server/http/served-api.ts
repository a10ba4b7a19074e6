import type { RbacAuthorizer } from '../access/rbac-authorizer.ts'
import type { EmbeddedApi } from '../embedded-api.ts'
import type { ResourceCatalogue } from '../resource-definition.ts'
import type { UserInfo } from '../user-info.ts'

/** What the HTTP face needs of the server behind it. */
export interface ServedApi {
  readonly catalogue: ResourceCatalogue
  readonly authorizer: Pick<RbacAuthorizer, 'isAllowed'>
  /** Whose token this is. */
  authenticate(token: string): UserInfo | undefined
  as(user: UserInfo): EmbeddedApi
}

/** What `/version` answers, and OpenAPI documents name. */
export interface ServerVersion {
  readonly major: string
  readonly minor: string
  readonly gitVersion: string
}

export const defaultVersion: ServerVersion = { major: '1', minor: '36', gitVersion: 'v1.36.4+cofferdam' }
