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
