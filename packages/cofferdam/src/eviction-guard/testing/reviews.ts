import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'

const pods = { group: '', version: 'v1', resource: 'pods' }

/** The AdmissionReview that an API server sends for an eviction; `request` and `eviction` change parts of it. */
export function evictionReview({
  namespace = 'shop',
  name = 'web-0',
  user = 'alice',
  eviction = {},
  request = {},
}: {
  readonly namespace?: string
  readonly name?: string
  readonly user?: string
  readonly eviction?: JsonObject
  readonly request?: JsonObject
} = {}): JsonObject {
  return review({
    resource: pods,
    subResource: 'eviction',
    name,
    namespace,
    operation: 'CREATE',
    userInfo: { username: user, groups: ['system:authenticated'] },
    object: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, ...eviction },
    oldObject: null,
    dryRun: false,
    ...request,
  })
}

/** The same for a plain deletion. */
export function deletionReview(pod: Pod, request: JsonObject = {}): JsonObject {
  const { name, namespace = '' } = pod.metadata
  return review({
    resource: pods,
    name,
    namespace,
    operation: 'DELETE',
    userInfo: { username: 'alice', groups: ['system:authenticated'] },
    object: null,
    oldObject: pod as unknown as JsonObject,
    dryRun: false,
    ...request,
  })
}

function review(request: JsonObject): JsonObject {
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: { uid: 'review-1', ...request } }
}
