import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import type { ServiceAccountTokens } from '../access/service-account-tokens.ts'
import type { Admission, AdmissionRequest } from '../admission/admission.ts'
import type { AnswerNotes } from '../embedded-api.ts'
import type { ResourceCatalogue, ResourceDefinition } from '../resource-definition.ts'
import type { Bucket } from '../store/bucket.ts'
import type { ObjectStore } from '../store/object-store.ts'
import type { UserInfo } from '../user-info.ts'

/** What all reads and writes share. */
export interface Registry {
  readonly store: ObjectStore
  readonly clock: Clock
  readonly random: Random
  readonly catalogue: ResourceCatalogue
  readonly tokens: ServiceAccountTokens
  /** Kinds about which the server itself has something to say when they are written. */
  readonly customResources: {
    completed(definition: ResourceDefinition, next: KubeObject): KubeObject
    leaving(definition: ResourceDefinition, stored: KubeObject): KubeObject
    requireOpen(definition: ResourceDefinition): void
    /** After each write that was stored: `object` is undefined when it is gone. */
    stored(definition: ResourceDefinition, object: KubeObject | undefined, name: string): void
  }
}

/** One write: what is written to, by whom, and how. */
export interface WriteRequest extends AnswerNotes {
  readonly definition: ResourceDefinition
  readonly user: UserInfo
  readonly admission: Admission
  readonly dryRun: boolean
  readonly fieldManager: string
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict'
  readonly subresource?: string
}

/** For writes of the server's own, which are admitted elsewhere or not at all. */
export const noAdmission: Admission = { mayMatch: () => false, admit: () => Promise.resolve([]) }

export function bucketOf(registry: Registry, definition: ResourceDefinition): Bucket {
  return registry.store.bucket(definition.storageKey)
}

/** The request for admission, or undefined when nothing would listen: then the caller need not wait. */
export function admissionOf(
  { definition, user, admission, dryRun, subresource, fieldManager }: WriteRequest,
  write: Pick<AdmissionRequest, 'operation' | 'key' | 'object' | 'oldObject'> & { readonly options?: JsonObject },
): AdmissionRequest | undefined {
  const { type } = definition
  const target = { operation: write.operation, type, ...(subresource === undefined ? {} : { subresource }) }
  if (!admission.mayMatch(target)) return undefined
  const { group, version, kind } = type
  const options = {
    kind: optionKinds[write.operation],
    apiVersion: 'meta.k8s.io/v1',
    ...(dryRun ? { dryRun: ['All'] } : {}),
    ...(write.operation === 'DELETE' ? {} : { fieldManager }),
  }
  return { ...write, ...target, kind: { group, version, kind }, options: write.options ?? options, user, dryRun }
}

const optionKinds = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
  CONNECT: 'ConnectOptions',
} as const

/** Refuses by throwing; hands warnings to the writer. */
export async function admit(request: WriteRequest, asked: AdmissionRequest): Promise<void> {
  for (const warning of await request.admission.admit(asked)) request.onWarning?.(warning)
}
