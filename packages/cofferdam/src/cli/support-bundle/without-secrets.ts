import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'

/** In place of a value that may be secret. */
export const leftOut = '(left out)'

/** Annotations of these may be kept: what they say is about nodes, storage and drains. All others are left out. */
const keptAnnotations =
  /^(?:[a-z0-9-]+\.)*(?:cofferdam\.io|rook\.io|longhorn\.io|karpenter\.sh|medik8s\.io|weave\.works|openshift\.io|x-k8s\.io|node\.kubernetes\.io|cluster-autoscaler\.kubernetes\.io)\//

/** Fields whose values are never kept, whatever the kind. */
const secretFields =
  /pass(?:word|wd|phrase)|secret|token|credential|api-?key|private-?key|access-?key|connectionDetails|kubeconfig/i

/** Fields that hold programs and their environment. */
const programFields: ReadonlySet<string> = new Set(['env', 'envFrom', 'command', 'args', 'managedFields'])

/**
 * An object as it may be shown to others. Of a pod only what says where it is and how it is; of everything else no environment, no managed
 * fields, no annotation that is not known to be harmless, and no field whose name speaks of a secret.
 *
 * Fails closed: an annotation or a field of a pod that is new is left out.
 */
export function withoutSecrets(object: KubeObject): unknown {
  const { annotations = {}, ...metadata } = object.metadata
  const kept = Object.fromEntries(
    Object.entries(annotations).map(([name, value]) => [name, keptAnnotations.test(name) ? value : leftOut]),
  )
  const whole = { ...object, metadata: { ...metadata, annotations: kept } }
  if (object.kind === 'ValidatingWebhookConfiguration') return cleaned(withoutPaths(whole))
  return cleaned(object.kind === 'Pod' ? podFacts(whole) : whole)
}

interface WebhookLike extends KubeObject {
  readonly webhooks?: readonly {
    readonly clientConfig?: { readonly url?: unknown; readonly service?: Readonly<Record<string, unknown>> }
  }[]
}

/** By a word in its path the guard recognises the API server, and others may keep a token there. */
function withoutPaths({ webhooks = [], ...configuration }: WebhookLike): unknown {
  const shown = webhooks.map(({ clientConfig: { url, service, ...client } = {}, ...webhook }) => ({
    ...webhook,
    clientConfig: {
      ...client,
      ...(url === undefined ? {} : { url: leftOut }),
      ...(service === undefined ? {} : { service: { ...service, path: leftOut } }),
    },
  }))
  return { ...configuration, webhooks: shown }
}

interface PodLike extends KubeObject {
  readonly spec?: { readonly nodeName?: unknown; readonly tolerations?: unknown; readonly priorityClassName?: unknown }
  readonly status?: { readonly phase?: unknown; readonly conditions?: unknown; readonly reason?: unknown }
}

function podFacts({ apiVersion, kind, metadata, spec = {}, status = {} }: PodLike): unknown {
  const { nodeName, tolerations, priorityClassName } = spec
  const { phase, conditions, reason } = status
  return {
    apiVersion,
    kind,
    metadata,
    spec: { nodeName, tolerations, priorityClassName },
    status: { phase, conditions, reason },
  }
}

function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cleaned)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]): [string, unknown][] => {
      if (programFields.has(name)) return []
      return [[name, secretFields.test(name) ? leftOut : cleaned(field)]]
    }),
  )
}
