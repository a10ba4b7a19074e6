import type { Namespace } from '@cofferdam/kubernetes/api/core.ts'
import type { ResourceStrategy } from '../resource-definition.ts'
import { invalidErrors } from './field-rules.ts'
import { finalizerOwnerErrors, labelErrors, qualifiedNameErrors } from './name-rules.ts'
import { withPhase } from './with-defaults.ts'

const nameLabel = 'kubernetes.io/metadata.name'

export const namespaceStrategy: ResourceStrategy = {
  prepare(next: Namespace) {
    let prepared = next
    const { name, labels } = next.metadata
    if (name !== undefined && name !== '' && labels?.[nameLabel] !== name) {
      prepared = { ...next, metadata: { ...next.metadata, labels: { ...labels, [nameLabel]: name } } }
    }
    return withPhase(prepared, 'Active')
  },

  admit(created: Namespace) {
    const finalizers = created.spec?.finalizers ?? []
    if (finalizers.includes('kubernetes')) return created
    return { ...created, spec: { ...created.spec, finalizers: [...finalizers, 'kubernetes'] } }
  },

  validateStatus({ metadata, status }: Namespace) {
    const isLeaving = metadata.deletionTimestamp !== undefined
    if (status?.phase === (isLeaving ? 'Terminating' : 'Active')) return []
    const detail = isLeaving
      ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
      : "may only be 'Active' if `deletionTimestamp` is empty"
    return [{ kind: 'Invalid', field: 'status.Phase', value: status?.phase, detail }]
  },

  validate(next: Namespace, previous: Namespace | undefined) {
    if (next.spec === previous?.spec && previous !== undefined) return []
    const { name } = next.metadata
    return [
      ...(previous === undefined ? invalidErrors(labelErrors(name), name, 'metadata.name') : []),
      ...(next.spec?.finalizers ?? []).flatMap((finalizer) =>
        invalidErrors(
          [...qualifiedNameErrors(finalizer), ...finalizerOwnerErrors(finalizer)],
          finalizer,
          'spec.finalizers',
        ),
      ),
    ]
  },
}
