import { hasReason } from '../api/api-error.ts'
import type { Lease } from '../api/core.ts'
import { leases } from '../api/resources.ts'
import type { KubeApi } from '../client/kube-api.ts'
import type { LeaseStore } from './leader-lease.ts'

/** Keeps a leader's record in a `coordination.k8s.io` Lease, the object that every other leader election uses. */
export function createLeaseStore(api: KubeApi, key: { readonly namespace: string; readonly name: string }): LeaseStore {
  return {
    async read(signal) {
      try {
        const { metadata, spec = {} } = await api.get(leases, key, { signal })
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
      } catch (error) {
        if (hasReason(error, 'NotFound')) return undefined
        throw error
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
