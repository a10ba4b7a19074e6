import { hasReason } from '../api/api-error.ts'
import type { Lease } from '../api/core.ts'
import { leases } from '../api/resources.ts'
import type { KubeApi } from '../client/kube-api.ts'
import type { LeaseStore } from './leader-lease.ts'

/** Keeps a leader's record in a `coordination.k8s.io` Lease, the object that every other leader election uses. */
export function createLeaseStore(api: KubeApi, key: { readonly namespace: string; readonly name: string }): LeaseStore {
  let mayList = true
  // A list also says how far the whole store has come.
  const list = async (signal: AbortSignal) => {
    const selection = { namespace: key.namespace, fieldSelector: `metadata.name=${key.name}` }
    const { items, resourceVersion } = await api.list(leases, { ...selection, signal })
    return { lease: items[0] && keptLease(items[0]), version: resourceVersion }
  }
  const get = async (signal: AbortSignal) => {
    try {
      const lease = keptLease(await api.get(leases, key, { signal }))
      return { lease, version: lease.version }
    } catch (error) {
      if (hasReason(error, 'NotFound')) return { lease: undefined, version: '' }
      throw error
    }
  }
  return {
    async read(signal) {
      if (!mayList) return await get(signal)
      try {
        return await list(signal)
      } catch (error) {
        // The rights are those of a release before.
        if (!hasReason(error, 'Forbidden')) throw error
        mayList = false
        return await get(signal)
      }
    },
    async write(record, version, signal) {
      const lease: Lease = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { ...key, ...(version === undefined ? {} : { resourceVersion: version }) },
        spec: {
          holderIdentity: record.holder,
          leaseDurationSeconds: record.durationSeconds,
          acquireTime: record.acquireTime,
          renewTime: record.renewTime,
          leaseTransitions: record.transitions,
        },
      }
      try {
        const { metadata } = await (version === undefined
          ? api.create(leases, lease, { signal })
          : api.update(leases, lease, { signal }))
        return metadata.resourceVersion ?? ''
      } catch (error) {
        if (hasReason(error, 'Conflict', 'AlreadyExists')) return undefined
        // For a create it means that the namespace is missing, and no other candidate will ever be faster.
        if (hasReason(error, 'NotFound') && version !== undefined) return undefined
        throw error
      }
    },
  }
}

function keptLease({ metadata, spec = {} }: Lease) {
  return {
    version: metadata.resourceVersion ?? '',
    record: {
      holder: spec.holderIdentity ?? '',
      durationSeconds: spec.leaseDurationSeconds ?? 0,
      acquireTime: spec.acquireTime ?? '',
      renewTime: spec.renewTime ?? '',
      transitions: spec.leaseTransitions ?? 0,
    },
  }
}
