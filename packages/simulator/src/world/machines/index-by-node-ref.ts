import type { Machine } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { View } from '../view.ts'

/** The Machines that say they are behind a node. */
export function indexByNodeRef(view: View<Machine>): (node: string) => Iterable<Machine> {
  return view.indexBy('node', ({ status }) => (status?.nodeRef?.name === undefined ? [] : [status.nodeRef.name]))
}
