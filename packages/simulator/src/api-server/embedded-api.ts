import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeList, KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ObjectKey, ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type {
  DeleteOptions,
  KubeApi,
  ListQuery,
  Patch,
  SubresourceOptions,
  WriteOptions,
} from '@cofferdam/kubernetes/client/kube-api.ts'

/** What an in-process caller may learn beside the answer; the HTTP face turns it into headers and codes. */
export interface AnswerNotes {
  /** Called for each warning the real server would send in a `Warning` header. */
  readonly onWarning?: (text: string) => void
  /** Called when a PATCH made a new object (server-side apply), or a PUT did: 201 instead of 200. */
  readonly onCreated?: () => void
  /** Called when a delete took the object away, and did not leave it terminating. */
  readonly onGone?: () => void
}

/** The KubeApi of the embedded server, for one user. */
export interface EmbeddedApi extends KubeApi {
  create<T extends KubeObject>(type: ResourceType<T>, object: T, options?: WriteOptions & AnswerNotes): Promise<T>
  createSubresource(
    type: ResourceType,
    key: ObjectKey,
    subresource: string,
    body: JsonObject,
    options?: WriteOptions & AnswerNotes,
  ): Promise<JsonObject>
  update<T extends KubeObject>(type: ResourceType<T>, object: T, options?: SubresourceOptions & AnswerNotes): Promise<T>
  delete<T extends KubeObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    options?: DeleteOptions & Pick<AnswerNotes, 'onGone'>,
  ): Promise<T>
  deleteCollection(
    type: ResourceType,
    query?: ListQuery,
    options?: DeleteOptions & {
      /** Called with the objects that are to go, as they were. */
      readonly onListed?: (list: KubeList) => void
    },
  ): Promise<void>
  patch<T extends KubeObject>(
    type: ResourceType<T>,
    key: ObjectKey,
    patch: Patch,
    options?: SubresourceOptions & AnswerNotes,
  ): Promise<T>
}
