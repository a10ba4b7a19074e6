import { isJsonObject, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { keyText, type ObjectKey } from '@cofferdam/kubernetes/api/resource-type.ts'
import { nodes, pods, secrets } from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { apiAudience, type BoundObject } from '../access/service-account-tokens.ts'
import { type FieldError, invalidObject } from '../schema/field-error.ts'
import { conflict, notFound } from './api-errors.ts'
import { bucketOf, type Registry, type WriteRequest } from './registry.ts'

const defaultLifeSeconds = 3_600
const shortestLifeSeconds = 600
const longestLifeSeconds = 2 ** 32

/** Answers a TokenRequest. */
export function requestToken(
  registry: Registry,
  { definition }: WriteRequest,
  key: ObjectKey,
  body: JsonObject,
): JsonObject {
  const account = bucketOf(registry, definition).get(keyText(key))
  if (account === undefined) throw notFound(definition.type, key.name)
  const spec = isJsonObject(body['spec']) ? body['spec'] : {}
  const lifeSeconds = lifeIn(spec)
  const asked = Array.isArray(spec['audiences']) ? spec['audiences'].filter((each) => typeof each === 'string') : []
  const audiences = asked.length === 0 ? [apiAudience] : asked
  const boundTo = boundObjectIn(registry, key, spec)
  const now = registry.clock.now()
  const { token, expiresAt } = registry.tokens.issue({
    account,
    audiences,
    lifeSeconds,
    ...(boundTo === undefined ? {} : { boundTo }),
  })
  return {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: {
      name: key.name,
      ...(key.namespace === undefined ? {} : { namespace: key.namespace }),
      creationTimestamp: timestamp({ now: () => now }),
    },
    spec: { ...spec, audiences, expirationSeconds: lifeSeconds },
    status: { token, expirationTimestamp: timestamp({ now: () => expiresAt }) },
  }
}

function lifeIn(spec: JsonObject): number {
  const field = 'spec.expirationSeconds'
  const value = spec['expirationSeconds'] ?? defaultLifeSeconds
  const wrong = (detail: string) => refuse([{ kind: 'Invalid', field, value, detail }])
  if (typeof value !== 'number' || value < shortestLifeSeconds)
    throw wrong('may not specify a duration less than 10 minutes')
  if (value > longestLifeSeconds) throw wrong('may not specify a duration larger than 2^32 seconds')
  return value
}

const bindable = { Node: nodes, Pod: pods, Secret: secrets }

/** The object whose end is the end of the token too. */
function boundObjectIn(registry: Registry, { namespace = '' }: ObjectKey, spec: JsonObject): BoundObject | undefined {
  const named = spec['boundObjectRef']
  if (!isJsonObject(named)) return undefined
  const { kind } = named
  const [name, wanted] = [textIn(named, 'name'), textIn(named, 'uid')]
  if (kind !== 'Node' && kind !== 'Pod' && kind !== 'Secret') {
    const detail = 'cannot bind token to this type of object'
    throw refuse([{ kind: 'Invalid', field: 'spec.boundObjectRef', value: named, detail }])
  }
  const type = bindable[kind]
  const object = registry.store.bucket(type.plural).get(kind === 'Node' ? name : `${namespace}/${name}`)
  if (object === undefined) throw notFound(type, name)
  const { uid = '' } = object.metadata
  if (wanted !== '' && wanted !== uid) {
    const why = `the UID in the bound object reference (${wanted}) does not match the UID in record. The object might have been deleted and then recreated`
    throw conflict(type, name, why)
  }
  return { kind, name, uid }
}

function textIn(holder: JsonObject, field: string): string {
  const value = holder[field]
  return typeof value === 'string' ? value : ''
}

function refuse(errors: readonly FieldError[]) {
  return invalidObject({ group: 'authentication.k8s.io', kind: 'TokenRequest', name: '' }, errors)
}
