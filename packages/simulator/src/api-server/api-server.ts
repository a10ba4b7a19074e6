import type { Namespace } from '@cofferdam/kubernetes/api/core.ts'
import { isJsonObject, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { ObjectMeta } from '@cofferdam/kubernetes/api/kube-object.ts'
import { keyOf, type ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { namespaces, pods } from '@cofferdam/kubernetes/api/resources.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type Random, randomUid } from '@cofferdam/kubernetes/runtime/random.ts'
import {
  answerLocalSubjectAccessReview,
  answerSelfSubjectAccessReview,
  answerSelfSubjectReview,
  answerSelfSubjectRulesReview,
  answerSubjectAccessReview,
} from './access/access-reviews.ts'
import { defaultRoles } from './access/default-roles.ts'
import { createRbacAuthorizer, type RbacAuthorizer, type RoleReader } from './access/rbac-authorizer.ts'
import { createServiceAccountTokens, type ServiceAccountTokens } from './access/service-account-tokens.ts'
import { answerTokenReview } from './access/token-review.ts'
import type { Admission } from './admission/admission.ts'
import { withAdmissionPolicies } from './admission/admission-policies.ts'
import { withOwnerPermissions } from './admission/owner-permissions.ts'
import { createValidatingWebhooks, type ValidatingWebhooks } from './admission/validating-webhooks.ts'
import type { WebhookCall } from './admission/webhook-call.ts'
import type { ServiceReference } from './admission/webhook-configuration.ts'
import { type AdmissionPlugins, type Answer, builtinResources } from './builtin/definitions.ts'
import type { OptionalField } from './builtin/schemas.ts'
import type { EmbeddedApi } from './embedded-api.ts'
import { createEvictionHandler, type EvictionRequest } from './eviction.ts'
import { startGarbageCollector } from './garbage-collector.ts'
import { InProcessApi } from './in-process-api.ts'
import { startNamespaceLifecycle } from './namespace-lifecycle.ts'
import { bindPod } from './registry/bind-pod.ts'
import { cachedObjects } from './registry/cached-objects.ts'
import { CustomResources } from './registry/custom-resources.ts'
import { deleteObject } from './registry/delete-object.ts'
import { startEventExpiry } from './registry/event-expiry.ts'
import { noAdmission, type Registry, type WriteRequest } from './registry/registry.ts'
import { ResourceRegistry } from './registry/resource-registry.ts'
import type { ResourceCatalogue, ResourceDefinition } from './resource-definition.ts'
import { ObjectStore } from './store/object-store.ts'
import { clusterAdmin, type UserInfo } from './user-info.ts'

export interface ApiServerOptions {
  readonly clock: Clock
  readonly random: Random
  /** How many changes each resource remembers; a watch that falls further behind must list again. */
  readonly eventLogLength?: number
  /** How webhooks are called; absent: over HTTPS. */
  readonly callWebhook?: WebhookCall
  /** Where a webhook is reached that names a Service. */
  readonly resolveWebhookService?: (service: ServiceReference) => string | undefined
  /** With the admission plugin OwnerReferencesPermissionEnforcement, as some distributions have it. Default: without. */
  readonly enforcesOwnerPermissions?: boolean
  /** A field of pods that comes with a feature which is off by default. Default: without. */
  readonly optionalField?: OptionalField
  readonly plugins?: AdmissionPlugins
}

const firstNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease']
const rbacGroup = 'rbac.authorization.k8s.io'

/** What `ApiServer.backup` has saved. */
export interface Backup {
  readonly store: ObjectStore
}

/** A Kubernetes API server in this process: its objects, their rules, and the actors that keep house among them. */
export class ApiServer {
  readonly #store: ObjectStore
  readonly #catalogue: ResourceRegistry
  readonly #registry: Registry
  readonly #authorizer: RbacAuthorizer
  readonly #tokens: ServiceAccountTokens
  readonly #webhooks: ValidatingWebhooks
  readonly #admission: Admission
  readonly #evict: (request: EvictionRequest) => Promise<JsonObject>
  readonly #housekeeper: EmbeddedApi
  #actors: readonly { stop(): void }[] = []

  /** Makes its bearer the administrator. */
  readonly adminToken: string

  constructor(options: ApiServerOptions) {
    const { clock, eventLogLength, callWebhook, resolveWebhookService } = options
    const random = options.random.stream('api-server')
    this.#store = new ObjectStore(eventLogLength === undefined ? {} : { eventLogLength })
    this.#authorizer = createRbacAuthorizer(roleReader(this.#store))
    this.adminToken = randomUid(random.stream('token of the administrator'))
    this.#tokens = createServiceAccountTokens({ store: this.#store, clock, random })
    this.#catalogue = new ResourceRegistry(
      builtinResources({
        answers: this.#answers(clock),
        optionalField: options.optionalField,
        plugins: options.plugins,
      }),
    )
    const customResources = new CustomResources({
      store: this.#store,
      clock,
      catalogue: this.#catalogue,
      deleteInstances: (definition) => this.#deleteInstances(definition),
    })
    this.#registry = {
      store: this.#store,
      clock,
      random,
      catalogue: this.#catalogue,
      tokens: this.#tokens,
      customResources,
    }
    const namespaceLabels = (name: string) => {
      const namespace = this.#store.bucket('namespaces').get(name)
      return namespace === undefined ? undefined : (namespace.metadata.labels ?? {})
    }
    this.#webhooks = createValidatingWebhooks({
      configurations: cachedObjects(this.#store, 'admissionregistration.k8s.io/validatingwebhookconfigurations'),
      namespaceLabels,
      equivalents: (type) => this.#equivalents(type),
      clock,
      random: random.stream('reviews'),
      ...(callWebhook === undefined ? {} : { call: callWebhook }),
      ...(resolveWebhookService === undefined ? {} : { resolveService: resolveWebhookService }),
    })
    const isAllowed: RbacAuthorizer['isAllowed'] = (user, attributes) => this.#authorizer.isAllowed(user, attributes)
    const policies = withAdmissionPolicies(this.#webhooks, {
      policies: cachedObjects(this.#store, 'admissionregistration.k8s.io/validatingadmissionpolicies'),
      bindings: cachedObjects(this.#store, 'admissionregistration.k8s.io/validatingadmissionpolicybindings'),
      scope: { namespaceLabels, equivalents: (type) => this.#equivalents(type) },
      isAllowed,
    })
    this.#admission =
      options.enforcesOwnerPermissions === true
        ? withOwnerPermissions(policies, { catalogue: this.#catalogue, isAllowed })
        : policies
    this.#housekeeper = this.#api(clusterAdmin, noAdmission)
    this.#evict = createEvictionHandler({ api: this.#housekeeper, clock, admission: this.#admission })
    for (const name of firstNamespaces) this.#putNamespace(name)
  }

  get catalogue(): ResourceCatalogue {
    return this.#catalogue
  }

  /** The version of the latest write. */
  get version(): number {
    return this.#store.version
  }

  /** Who may do what, for requests that are about no resource. */
  get authorizer(): RbacAuthorizer {
    return this.#authorizer
  }

  /** Whose token this is, if it is for this server and still counts. */
  authenticate(token: string): UserInfo | undefined {
    return token === this.adminToken ? clusterAdmin : this.#tokens.holderOf(token)?.user
  }

  /** The API as this user may use it. */
  as(user: UserInfo): EmbeddedApi {
    return this.#api(user, this.#admission)
  }

  /** Notifies of every stored object of a resource, and of each change as soon as it is stored. */
  readonly observe: ObjectStore['observe'] = (storageKey, observer) => this.#store.observe(storageKey, observer)

  /** Forgets the past: watches and lists can resume only from here on. */
  compact(): void {
    this.#store.compact()
  }

  /** All that is stored, as a backup of etcd has it. */
  backup(): Backup {
    return { store: this.#store.fork() }
  }

  /** Puts a backup back, as whoever restores etcd does: resource versions go back too, and every watch breaks off. */
  restore({ store }: Backup): void {
    this.#store.restore(store)
  }

  /** Adds the roles every cluster starts with, and starts garbage collection, the lifecycle of namespaces and the forgetting of events. */
  start(): void {
    if (this.#actors.length > 0) return
    this.#addDefaultRoles()
    const { clock } = this.#registry
    const ports = { api: this.#housekeeper, catalogue: this.#catalogue, clock, observe: this.observe }
    this.#actors = [startGarbageCollector(ports), startNamespaceLifecycle(ports), startEventExpiry(this.#registry)]
  }

  stop(): void {
    for (const actor of this.#actors) actor.stop()
    this.#actors = []
    void this.#webhooks.close()
  }

  #api(user: UserInfo, admission: Admission): EmbeddedApi {
    return new InProcessApi({
      registry: this.#registry,
      user,
      admission,
      isAllowed: (asker, attributes) => this.#authorizer.isAllowed(asker, attributes),
      evict: (request) => this.#evict(request),
    })
  }

  #answers(clock: Clock): Readonly<Record<string, Answer>> {
    const authorizer = this.#authorizer
    return {
      SelfSubjectAccessReview: (question, asker) => answerSelfSubjectAccessReview(authorizer, question, asker),
      SubjectAccessReview: (question) => answerSubjectAccessReview(authorizer, question),
      LocalSubjectAccessReview: (question) =>
        answerLocalSubjectAccessReview(authorizer, question, metadataOf(question).namespace ?? ''),
      SelfSubjectRulesReview: (question, asker) => answerSelfSubjectRulesReview(authorizer, question, asker),
      SelfSubjectReview: (question, asker) => answerSelfSubjectReview(question, asker, timestamp(clock)),
      TokenReview: (question) => answerTokenReview(this.#tokens, question),
      Binding: (body, asker) => this.#bind(body, asker),
    }
  }

  /** The collection `bindings` is an old name for the subresource of the pod that the binding is named after. */
  #bind(body: JsonObject, user: UserInfo): Promise<JsonObject> {
    const { name, namespace } = metadataOf(body)
    const key = { name: name ?? '', ...(namespace === undefined ? {} : { namespace }) }
    return bindPod(this.#registry, this.#ownWrite(this.#served(pods), { user, admission: this.#admission }), key, body)
  }

  #deleteInstances(definition: ResourceDefinition): void {
    const request = this.#ownWrite(definition)
    for (const object of [...this.#store.bucket(definition.storageKey).entries()].map(([, each]) => each)) {
      // Whoever was faster in deleting or changing it is followed up when it is really gone.
      deleteObject(this.#registry, request, keyOf(object), {}).catch(() => {})
    }
  }

  /** Under which other groups and versions the same objects are served. */
  #equivalents({ group, version, plural }: ResourceType): readonly ResourceType[] {
    const definition = this.#catalogue.find(group, version, plural)
    return this.#catalogue
      .all()
      .filter((each) => each !== definition && each.storageKey === definition?.storageKey)
      .map(({ type }) => type)
  }

  #ownWrite(definition: ResourceDefinition, writer: Partial<WriteRequest> = {}): WriteRequest {
    return {
      definition,
      user: clusterAdmin,
      admission: noAdmission,
      dryRun: false,
      fieldManager: 'embedded-api-server',
      fieldValidation: 'Ignore',
      ...writer,
    }
  }

  #served({ group, version, plural }: ResourceType): ResourceDefinition {
    return this.#catalogue.find(group, version, plural) as ResourceDefinition
  }

  #addDefaultRoles(): void {
    for (const role of defaultRoles()) {
      const plural = role.kind === 'ClusterRole' ? 'clusterroles' : 'clusterrolebindings'
      const type = this.#catalogue.find(rbacGroup, 'v1', plural)?.type
      // One that is there already was changed by an administrator, and stays so.
      if (type !== undefined) this.#housekeeper.create(type, role).catch(() => {})
    }
  }

  #putNamespace(name: string): void {
    const { clock, random } = this.#registry
    const namespace: Namespace = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: {
        name,
        uid: randomUid(random.stream('uids of namespaces')),
        creationTimestamp: timestamp(clock),
        labels: { 'kubernetes.io/metadata.name': name },
      },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    }
    this.#store.bucket(this.#served(namespaces).storageKey).put(name, namespace, undefined)
  }
}

function metadataOf(body: JsonObject): Partial<ObjectMeta> {
  return isJsonObject(body['metadata']) ? (body['metadata'] as Partial<ObjectMeta>) : {}
}

function roleReader(store: ObjectStore): RoleReader {
  const reader = (plural: string) => cachedObjects(store, `${rbacGroup}/${plural}`)
  const [clusterRoles, clusterRoleBindings] = [reader('clusterroles'), reader('clusterrolebindings')]
  return {
    clusterRoles: () => clusterRoles(),
    clusterRoleBindings: () => clusterRoleBindings(),
    roles: reader('roles'),
    roleBindings: reader('rolebindings'),
  }
}
