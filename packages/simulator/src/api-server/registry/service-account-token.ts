import { isJsonObject, type JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import { keyText, type ObjectKey } from '@cofferdam/kubernetes/api/resource-type.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { randomUid } from '@cofferdam/kubernetes/runtime/random.ts'
import { notFound } from './api-errors.ts'
import { bucketOf, type Registry, type WriteRequest } from './registry.ts'

const defaultLifeSeconds = 3600

/** Answers a TokenRequest. The token names the account and proves nothing: there is no key behind it. */
export function requestToken(
  registry: Registry,
  { definition }: WriteRequest,
  key: ObjectKey,
  body: JsonObject,
): JsonObject {
  const account = bucketOf(registry, definition).get(keyText(key))
  if (account === undefined) throw notFound(definition.type, key.name)
  const spec = isJsonObject(body['spec']) ? body['spec'] : {}
  const asked = spec['expirationSeconds']
  const expirationSeconds = typeof asked === 'number' ? asked : defaultLifeSeconds
  const now = registry.clock.now()
  const holder = Buffer.from(`system:serviceaccount:${key.namespace ?? ''}:${key.name}`).toString('base64url')
  return {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: {
      name: key.name,
      ...(key.namespace === undefined ? {} : { namespace: key.namespace }),
      creationTimestamp: timestamp({ now: () => now }),
    },
    spec: { ...spec, expirationSeconds },
    status: {
      token: `embedded.${holder}.${randomUid(registry.random.stream('tokens'))}`,
      expirationTimestamp: timestamp({ now: () => now + expirationSeconds * 1000 }),
    },
  }
}
