import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { FieldError } from './schema/field-error.ts'
import type { Schema } from './schema/schema.ts'
import type { UserInfo } from './user-info.ts'

/** One column of `kubectl get`. Priority 0 is always shown, 1 with `-o wide`. */
export interface TableColumn {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly format?: string
  readonly description?: string
  readonly priority?: number
  /** The cell of an object. `nowMs` is for ages. */
  cell(object: KubeObject, nowMs: number): string | number | boolean | null
}

export interface ScaleSubresource {
  readonly specReplicasPath: string
  readonly statusReplicasPath: string
  readonly labelSelectorPath?: string
}

/** What is particular to one kind, beyond what its schema says. */
export interface ResourceStrategy {
  /** Defaults and server-set fields; runs before validation, on create and on every update. */
  prepare?(next: KubeObject, previous: KubeObject | undefined): KubeObject
  /** What admission adds to a new object, after it is noted who owns what was sent. */
  admit?(created: KubeObject, isDryRun: boolean): KubeObject
  /** Rules that no schema can say: immutable fields, names, mutually exclusive fields. */
  validate?(next: KubeObject, previous: KubeObject | undefined): readonly FieldError[]
  /** Rules for the status subresource, where the kind has some. */
  validateStatus?(next: KubeObject, previous: KubeObject): readonly FieldError[]
  /** Warnings for the writer, as the server sends in `Warning` headers. */
  warn?(next: KubeObject, previous: KubeObject | undefined): readonly string[]
  /** Seconds between a delete request and the end; absent or 0 means at once. */
  gracePeriodSeconds?(object: KubeObject, requested: number | undefined): number
  /** Kinds that are questions, not things: a create is answered and nothing is stored. */
  answer?(question: JsonObject, asker: UserInfo): JsonObject | Promise<JsonObject>
}

/** Everything the server knows of one resource in one version. */
export interface ResourceDefinition {
  readonly type: ResourceType
  readonly listKind: string
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly schema: Schema
  readonly origin: 'builtin' | 'custom'
  /** Objects of one resource are stored once, whatever version they are asked for in: `group/plural`. */
  readonly storageKey: string
  readonly storageVersion: string
  readonly hasStatus: boolean
  readonly scale?: ScaleSubresource
  /** Subresources that take a POST: `eviction` and `binding` of pods, `token` of service accounts. */
  readonly postSubresources: readonly string[]
  /** Fields that field selectors may name, beside metadata.name and metadata.namespace. */
  readonly selectableFields: readonly string[]
  /** How field selectors read those of them whose text is not simply what stands at their path. */
  readonly fieldReaders?: Readonly<Record<string, (object: KubeObject) => string>>
  /** False for kinds whose metadata.generation the real server leaves unset (Pod before 1.35, Event, ConfigMap, Node ...). */
  readonly hasGeneration: boolean
  /** Deployments count a change of annotations as a new generation too. */
  readonly countsAnnotations?: boolean
  readonly columns: readonly TableColumn[]
  readonly strategy: ResourceStrategy
}

/** The resources served now; custom ones come and go. */
export interface ResourceCatalogue {
  find(group: string, version: string, plural: string): ResourceDefinition | undefined
  all(): readonly ResourceDefinition[]
  /** Grows with every change, for discovery's ETag. */
  readonly revision: number
}
