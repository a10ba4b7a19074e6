import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { configMaps, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { ownershipAnnotations } from '../../safety/ceph-ownership.ts'
import { recordNotes } from '../../shared/record-notes.ts'
import { mergePatch, type Trace, trace, withoutKeys } from '../../shared/trace.ts'
import { observedName } from './apply/record.ts'
import { isManagedByUs, managedLabels } from './domain/budget-mark.ts'
import { retiredAtAnnotation } from './domain/retire-budget.ts'
import { ownPartOf, ownStateKeys, releaseDrainState, stateMapName } from './domain/state-map.ts'

export const cephDrainTraces: readonly Trace[] = [
  trace({
    type: podDisruptionBudgets,
    keys: [retiredAtAnnotation],
    removal(budget, { rooksNamespaces }) {
      const { namespace = '', name } = budget.metadata
      if (!isManagedByUs(budget) || !name.startsWith('rook-ceph-')) return undefined
      if (!rooksNamespaces.has(namespace)) return { verb: 'delete', says: 'budget of Ceph daemons' }
      const labels = Object.fromEntries(Object.keys(managedLabels).map((key) => [key, null]))
      return mergePatch(budget, 'the mark of Cofferdam; the budget stays for Rook', {
        metadata: { labels, annotations: { [retiredAtAnnotation]: null } },
      })
    },
  }),
  trace({
    type: configMaps,
    place: 'ceph',
    keys: [...Object.values(recordNotes), ...ownStateKeys],
    removal(map, { rooksNamespaces }) {
      const { name, namespace = '', annotations: present = {} } = map.metadata
      if (name === observedName) return { verb: 'delete', says: 'record of ceph-drain' }
      if (name !== stateMapName || !ownPartOf(map).isThere) return undefined
      const { data, annotations } = releaseDrainState(map, { left: [], isRooks: rooksNamespaces.has(namespace) })
      if (data === undefined) return { verb: 'delete', says: 'record of ceph-drain' }
      return mergePatch(map, 'keys of ceph-drain', {
        metadata: { annotations: gone(present, annotations) },
        data: gone(map.data ?? {}, data),
      })
    },
  }),
  trace({
    type: cephClusters,
    keys: Object.values(ownershipAnnotations),
    removal: (cluster) => withoutKeys(cluster, { annotations: Object.values(ownershipAnnotations) }),
  }),
]

function gone(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>): Record<string, null> {
  const left = Object.keys(before).filter((key) => !Object.hasOwn(after, key))
  return Object.fromEntries(left.map((key) => [key, null]))
}
