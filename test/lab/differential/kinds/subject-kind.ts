import type { Json, JsonObject } from '@cofferdam/kubernetes/api/json.ts'

/** A kind as the generator plays with it. */
export interface SubjectKind {
  readonly kind: string
  readonly apiVersion: string
  /** With `{ns}` where the namespace goes. */
  readonly collection: string
  readonly isClusterWide?: true
  /** Whole objects without metadata that both servers take. */
  readonly valid: readonly JsonObject[]
  /** Whole objects without metadata that are refused, or taken with something dropped. */
  readonly odd: readonly JsonObject[]
  /** Merge patches that change what may be changed. */
  readonly edits: readonly JsonObject[]
  /** Merge patches that are refused, or change less than they say. */
  readonly oddEdits: readonly JsonObject[]
  /** Merge patches of the status, where it is a subresource. */
  readonly statusEdits?: readonly JsonObject[]
  readonly strategic?: readonly JsonObject[]
  readonly jsonPatches?: readonly Json[]
  /** Objects without metadata as one of several appliers would have them. */
  readonly applied: readonly JsonObject[]
  readonly fieldSelectors?: readonly string[]
}
