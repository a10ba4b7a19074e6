import type { KubeObject } from './kube-object.ts'
import type { ResourceType } from './resource-type.ts'

/** Who asks? The API server answers with the user it authenticated. */
export interface SelfSubjectReview extends KubeObject {
  readonly status?: { readonly userInfo?: { readonly username?: string } }
}

export const selfSubjectReviews: ResourceType<SelfSubjectReview> = {
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
}

/** Whose token is this? Asked by those that are called with one. */
export interface TokenReview extends KubeObject {
  readonly spec: {
    readonly token: string
    /** The token must be for one of these; for the API server when absent. */
    readonly audiences?: readonly string[]
  }
  readonly status?: {
    readonly authenticated?: boolean
    readonly user?: {
      readonly username?: string
      readonly uid?: string
      readonly groups?: readonly string[]
      readonly extra?: Readonly<Record<string, readonly string[]>>
    }
    /** For which of the audiences the token is; absent where the server knows nothing of audiences. */
    readonly audiences?: readonly string[]
    readonly error?: string
  }
}

export const tokenReviews: ResourceType<TokenReview> = {
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'tokenreviews',
  kind: 'TokenReview',
  namespaced: false,
}
