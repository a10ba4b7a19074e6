import { known, unknown } from '../../../shared/observed.ts'
import type { StorageFacts } from '../../../shared/storage-facts.ts'
import type { StorageView } from '../../../shared/storage-view.ts'

/** What the record says about the failure domains of a node, for whoever cannot ask Ceph. */
export function recordedStorage(views: readonly StorageView[], node: string): StorageFacts[] {
  return views.flatMap((view): StorageFacts[] => {
    const key = `storage/${view.namespace}/${view.name}`
    const isClean = unknown('only the operator polls Ceph')
    const answers = view.domains.filter(({ nodes }) => nodes.includes(node))
    return answers.map(({ domain, mayDrain, explanation }) => ({
      key,
      uid: '',
      failureDomain: domain,
      mayGo:
        view.isAttended === false
          ? unknown('no operator updates the record')
          : known({ allowed: mayDrain, explanation }),
      isClean,
    }))
  })
}
