import { ApiError, type StatusDetails } from '@cofferdam/kubernetes/api/api-error.ts'
import { isJsonObject, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { Labels } from '@cofferdam/kubernetes/api/label-selector.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type Random, randomUid, realRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import type { Admission, AdmissionRequest } from './admission.ts'
import { type AdmissionAnswer, parseReview, reviewRequest } from './admission-review.ts'
import { HttpsWebhookClient, type WebhookCall } from './webhook-call.ts'
import type { ServiceReference, ValidatingWebhook } from './webhook-configuration.ts'
import { type MatchScope, matchedResource } from './webhook-match.ts'
import { isExempt, isRuledBy, type Target } from './webhook-rules.ts'

export interface ValidatingWebhooksOptions {
  /** The ValidatingWebhookConfigurations as they are now; the same array means that none has changed. */
  configurations(): readonly KubeObject[]
  /** Undefined when there is no such namespace. */
  namespaceLabels(name: string): Labels | undefined
  readonly clock: Clock
  /** How webhooks are reached; over HTTPS unless given. */
  readonly call?: WebhookCall
  /** Where a webhook that names a Service is reached; such webhooks fail when this is absent or knows no answer. */
  resolveService?(service: ServiceReference): string | undefined
  /** Other groups and versions under which the same objects are served. */
  equivalents?(type: ResourceType): readonly ResourceType[]
  /** For the uids of reviews. */
  readonly random?: Random
}

export interface ValidatingWebhooks extends Admission {
  /** Lets go of kept connections. */
  close(): Promise<void>
}

interface Configuration extends KubeObject {
  readonly webhooks?: readonly ValidatingWebhook[]
}

/**
 * Asks the validating webhooks of the cluster.
 *
 * Guarantees: every webhook that matches is asked, all at once, before anything is stored; one refusal is enough.
 * Fails closed: no answer, a late one or a broken one is a refusal, unless the webhook's failurePolicy is Ignore.
 */
export function createValidatingWebhooks(options: ValidatingWebhooksOptions): ValidatingWebhooks {
  const { clock, random = realRandom } = options
  const client = new HttpsWebhookClient()
  const call = options.call ?? client.call
  const equivalents = (type: ResourceType) => options.equivalents?.(type) ?? []
  const scope: MatchScope = { namespaceLabels: (name) => options.namespaceLabels(name), equivalents }

  return {
    mayMatch(target) {
      const configurations = options.configurations()
      if (configurations.length === 0 || isExempt(target)) return false
      return webhooksOf(configurations).some((webhook) => mayRule(webhook, target, equivalents))
    },

    async admit(request) {
      if (isExempt(request)) return []
      const questions = webhooksOf(options.configurations()).flatMap((webhook) => {
        const uid = randomUid(random)
        const matched = matchedResource({ webhook, request, uid, scope })
        return matched === undefined ? [] : [{ webhook, uid, matched }]
      })
      for (const { webhook } of questions) requireDryRunSupport(webhook, request)
      const outcomes = await Promise.all(
        questions.map(({ webhook, uid, matched }) =>
          ask({ webhook, review: reviewRequest({ request, matched, uid }), uid, clock, call, options }),
        ),
      )
      const refusal = outcomes.find(({ error }) => error !== undefined)?.error
      if (refusal !== undefined) throw refusal
      return outcomes.flatMap(({ warnings }) => warnings)
    },

    close: () => client.close(),
  }
}

const ordered = new WeakMap<readonly KubeObject[], readonly ValidatingWebhook[]>()

/**
 * In the order of the configurations' names, so that of several refusals it is always the same one that is reported.
 * Put in order once: the same array comes until a configuration changes.
 */
function webhooksOf(configurations: readonly KubeObject[]): readonly ValidatingWebhook[] {
  const known = ordered.get(configurations)
  if (known !== undefined) return known
  const webhooks = [...configurations]
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .flatMap((configuration) => (configuration as Configuration).webhooks ?? [])
  ordered.set(configurations, webhooks)
  return webhooks
}

function mayRule(
  { rules = [], matchPolicy }: ValidatingWebhook,
  target: Target,
  equivalents: (type: ResourceType) => readonly ResourceType[],
): boolean {
  if (rules.some((rule) => isRuledBy(rule, target))) return true
  if (matchPolicy === 'Exact') return false
  return equivalents(target.type).some((type) => rules.some((rule) => isRuledBy(rule, { ...target, type })))
}

function requireDryRunSupport({ name, sideEffects }: ValidatingWebhook, { dryRun }: AdmissionRequest): void {
  if (!dryRun || sideEffects === 'None' || sideEffects === 'NoneOnDryRun') return
  throw new ApiError('BadRequest', `admission webhook ${JSON.stringify(name)} does not support dry run`)
}

interface Outcome {
  readonly error: ApiError | undefined
  readonly warnings: readonly string[]
}

interface Question {
  readonly webhook: ValidatingWebhook
  readonly review: JsonObject
  readonly uid: string
  readonly clock: Clock
  readonly call: WebhookCall
  readonly options: ValidatingWebhooksOptions
}

async function ask(question: Question): Promise<Outcome> {
  const { webhook } = question
  try {
    const answer = await answerOf(question)
    return { error: answer.allowed ? undefined : refusalBy(webhook.name, answer), warnings: answer.warnings }
  } catch (error) {
    if (webhook.failurePolicy === 'Ignore') return { error: undefined, warnings: [] }
    const message = `Internal error occurred: failed calling webhook ${JSON.stringify(webhook.name)}: ${textOf(error)}`
    const details = { causes: [{ message: message.replace(/^Internal error occurred: /, '') }] }
    return { error: new ApiError('InternalError', message, { details }), warnings: [] }
  }
}

async function answerOf({ webhook, review, uid, clock, call, options }: Question): Promise<AdmissionAnswer> {
  const apiVersion = `admission.k8s.io/${reviewVersion(webhook)}`
  const seconds = webhook.timeoutSeconds ?? 10
  const { url, serverName } = addressOf(webhook, options)
  url.searchParams.set('timeout', `${seconds}s`)
  const body = JSON.stringify({ kind: 'AdmissionReview', apiVersion, request: review })
  const ca = webhook.clientConfig.caBundle
  const deadline = new AbortController()
  let cancel = () => {}
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(seconds * 1000, () => {
      const error = new Error('context deadline exceeded')
      reject(error)
      deadline.abort(error)
    })
  })
  try {
    const asked = call({
      url: url.href,
      ca: ca === undefined ? undefined : Buffer.from(ca, 'base64').toString('utf8'),
      serverName,
      body,
      signal: deadline.signal,
    })
    const { status, body: text } = await Promise.race([asked, late])
    if (status !== 200) {
      throw new Error(
        `an error on the server (${JSON.stringify(text.slice(0, 1024))}) answered ${status} and has prevented the request from succeeding`,
      )
    }
    return parseReview(text, { uid, apiVersion })
  } catch (error) {
    throw new Error(`failed to call webhook: Post ${JSON.stringify(url.href)}: ${textOf(error)}`)
  } finally {
    cancel()
  }
}

function reviewVersion({ admissionReviewVersions = ['v1'] }: ValidatingWebhook): string {
  const known = admissionReviewVersions.find((version) => version === 'v1' || version === 'v1beta1')
  if (known === undefined) throw new Error(`webhook does not accept known AdmissionReview versions (v1, v1beta1)`)
  return known
}

function addressOf(
  { clientConfig }: ValidatingWebhook,
  options: ValidatingWebhooksOptions,
): { url: URL; serverName: string | undefined } {
  const { url, service } = clientConfig
  if (url !== undefined) return { url: new URL(url), serverName: undefined }
  if (service === undefined) throw new Error('webhook configuration must have either service or URL')
  const base = options.resolveService?.(service)
  const serverName = `${service.name}.${service.namespace}.svc`
  if (base === undefined) throw new Error(`failed to call webhook: service ${JSON.stringify(service.name)} not found`)
  return { url: new URL(service.path ?? '/', base), serverName }
}

/** A refusal keeps the code and reason the webhook gave; a code that is no error becomes 400. */
function refusalBy(name: string, { status = {} }: AdmissionAnswer): ApiError {
  const { code, details } = status
  const message = typeof status['message'] === 'string' ? status['message'] : ''
  const reason = typeof status['reason'] === 'string' ? status['reason'] : ''
  const denied = `admission webhook ${JSON.stringify(name)} denied the request`
  const why = message === '' ? reason : message
  return new ApiError(reason, why === '' ? `${denied} without explanation` : `${denied}: ${why}`, {
    code: typeof code === 'number' && code >= 400 ? code : 400,
    ...(isJsonObject(details) ? { details: details as StatusDetails } : {}),
  })
}

/** A failed connection hides its cause one level down. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (error instanceof AggregateError && error.errors.length > 0) return textOf(error.errors[0])
  return cause instanceof Error && error.message === 'fetch failed' ? textOf(cause) : error.message
}
