import { isIP } from 'node:net'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ServiceSpec } from '../builtin/service-strategy.ts'
import { invalidObject } from '../schema/field-error.ts'
import { bucketOf, type Registry, type WriteRequest } from './registry.ts'

type Service = KubeObject & { readonly spec?: ServiceSpec }

/**
 * Addresses are taken before anything else of a service is looked at.
 *
 * @throws ApiError 422 where a service that has no address yet asks for that of another
 */
export function requireFreeAddress(
  registry: Registry,
  request: WriteRequest,
  next: KubeObject,
  previous?: KubeObject,
): void {
  const { definition, subresource, dryRun } = request
  // What is only tried takes no address.
  if (definition.storageKey !== 'services' || subresource !== undefined || dryRun) return
  if (previous !== undefined && hasAddress(previous)) return
  const { clusterIP = '', clusterIPs = [clusterIP] } = (next as Service).spec ?? {}
  if (!hasAddress(next) || isIP(clusterIP) === 0) return
  for (const [, other] of bucketOf(registry, definition).entries()) {
    if ((other as Service).spec?.clusterIP !== clusterIP) continue
    const detail = `failed to allocate IP ${clusterIP}: provided IP is already allocated`
    throw invalidObject({ group: '', kind: 'Service', name: next.metadata.name }, [
      { kind: 'Invalid', field: 'spec.clusterIPs', value: [...clusterIPs], detail },
    ])
  }
}

function hasAddress({ spec }: Service): boolean {
  return spec?.type !== 'ExternalName'
}
