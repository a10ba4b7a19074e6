import type { Scale } from '@cofferdam/kubernetes/api/apps.ts'
import { isJsonObject, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { selectorText } from '@cofferdam/kubernetes/api/label-selector.ts'
import { keyOf, keyText, type ObjectKey } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { Patch } from '@cofferdam/kubernetes/client/kube-api.ts'
import { builtinSchema } from '../builtin/schemas.ts'
import type { ResourceDefinition, ScaleSubresource } from '../resource-definition.ts'
import { invalidObject } from '../schema/field-error.ts'
import { badRequest, methodNotAllowed, notFound, staleWrite } from './api-errors.ts'
import { patched } from './patch-object.ts'
import { bucketOf, type Registry, type WriteRequest } from './registry.ts'
import { rewriteObject } from './rewrite-object.ts'
import { asServed } from './served-version.ts'

export function readScale(registry: Registry, definition: ResourceDefinition, key: ObjectKey): Scale {
  const stored = bucketOf(registry, definition).get(keyText(key))
  if (stored === undefined) throw notFound(definition.type, key.name)
  return scaleOf(definition, asServed(definition, stored))
}

export async function updateScale(registry: Registry, request: WriteRequest, sent: Scale): Promise<Scale> {
  return rescale(registry, request, keyOf(sent), () => sent)
}

export async function patchScale(
  registry: Registry,
  request: WriteRequest,
  key: ObjectKey,
  patch: Patch,
): Promise<Scale> {
  if (patch.type === 'apply') {
    const { body } = patch
    return rescale(registry, request, key, (scale) => ({ ...scale, spec: body['spec'] as NonNullable<Scale['spec']> }))
  }
  const schema = builtinSchema('autoscaling/v1', 'Scale') ?? {}
  return rescale(registry, request, key, (scale) =>
    patched(scale as Scale & JsonObject, patch, { schema, isCustom: false }),
  )
}

async function rescale(
  registry: Registry,
  request: WriteRequest,
  key: ObjectKey,
  change: (scale: Scale) => Scale,
): Promise<Scale> {
  const { definition } = request
  const written = await rewriteObject(registry, request, {
    key,
    shown: {
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      as: (object) => scaleOf(definition, object),
    },
    change: (current) => {
      const scale = scaleOf(definition, current)
      return withReplicas(definition, current, requireScale(definition, change(scale), scale))
    },
  })
  return scaleOf(definition, written)
}

function requireScale({ type }: ResourceDefinition, next: Scale, current: Scale): number {
  const { name, resourceVersion } = current.metadata
  if (next.metadata?.name !== name)
    throw badRequest(`the name of the object does not match the name on the URL (${name})`)
  if (next.metadata.resourceVersion && next.metadata.resourceVersion !== resourceVersion) throw staleWrite(type, name)
  const replicas = next.spec?.replicas ?? 0
  if (Number.isInteger(replicas) && replicas >= 0) return replicas
  throw invalidObject({ group: 'autoscaling', kind: 'Scale', name }, [
    { kind: 'Invalid', field: 'spec.replicas', value: replicas, detail: 'must be greater than or equal to 0' },
  ])
}

function scaleOf(definition: ResourceDefinition, object: KubeObject): Scale {
  const paths = scalePaths(definition)
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const selector = selectorOf(object, paths)
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    },
    spec: { replicas: numberAt(object, paths.specReplicasPath) },
    status: { replicas: numberAt(object, paths.statusReplicasPath), ...(selector === '' ? {} : { selector }) },
  }
}

function scalePaths({ scale, type }: ResourceDefinition): ScaleSubresource {
  if (scale === undefined) throw methodNotAllowed(type, 'scale')
  return scale
}

/** Custom resources say where their selector text is; built-in kinds have a selector in their spec. */
function selectorOf(object: KubeObject, { labelSelectorPath }: ScaleSubresource): string {
  const text = labelSelectorPath === undefined ? undefined : valueAt(object, labelSelectorPath)
  if (typeof text === 'string') return text
  const selector = valueAt(object, '.spec.selector')
  if (!isJsonObject(selector)) return ''
  const isPlainMap = object.kind === 'ReplicationController'
  return selectorText(isPlainMap ? { matchLabels: selector as Record<string, string> } : selector)
}

function numberAt(object: KubeObject, path: string): number {
  const value = valueAt(object, path)
  return typeof value === 'number' ? value : 0
}

function valueAt(object: KubeObject, path: string): unknown {
  let value: unknown = object
  for (const step of stepsOf(path)) value = isJsonObject(value) ? value[step] : undefined
  return value
}

function withReplicas(definition: ResourceDefinition, object: KubeObject, replicas: number): KubeObject {
  const { specReplicasPath } = scalePaths(definition)
  if (valueAt(object, specReplicasPath) === replicas) return object
  return withValue(object as KubeObject & JsonObject, stepsOf(specReplicasPath), replicas) as unknown as KubeObject
}

function withValue(holder: JsonObject, [step, ...rest]: readonly string[], value: number): JsonObject {
  const name = step as string
  const child = holder[name]
  return { ...holder, [name]: rest.length === 0 ? value : withValue(isJsonObject(child) ? child : {}, rest, value) }
}

function stepsOf(path: string): string[] {
  return path.split('.').filter((step) => step !== '')
}
