import type { KubeObject } from './kube-object.ts'
import type { ResourceType } from './resource-type.ts'

/** May this user do that? The API server answers. */
export interface SubjectAccessReview extends KubeObject {
  readonly spec: {
    readonly user: string
    readonly groups?: readonly string[]
    readonly uid?: string
    readonly extra?: Readonly<Record<string, readonly string[]>>
    readonly resourceAttributes?: {
      readonly group: string
      readonly resource: string
      readonly subresource?: string
      readonly verb: string
      /** Empty: all of them. */
      readonly namespace?: string
      readonly name?: string
    }
    /** In place of a resource: a path. */
    readonly nonResourceAttributes?: { readonly path: string; readonly verb: string }
  }
  readonly status?: { readonly allowed?: boolean; readonly denied?: boolean }
}

export const subjectAccessReviews: ResourceType<SubjectAccessReview> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  namespaced: false,
}

/** May the user of this connection do that? */
export interface SelfSubjectAccessReview extends KubeObject {
  readonly spec: Pick<SubjectAccessReview['spec'], 'resourceAttributes'>
  readonly status?: SubjectAccessReview['status']
}

export const selfSubjectAccessReviews: ResourceType<SelfSubjectAccessReview> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
  namespaced: false,
}
