import type { LonghornNodeView } from './snapshot.ts'

/** Whether Longhorn sees that a node is closed: it goes by `spec.unschedulable` and by nothing else. */
export function isSeenClosed({ isCordoned, closing }: Pick<LonghornNodeView, 'isCordoned' | 'closing'>): boolean {
  return isCordoned && (closing?.isCordoned ?? true)
}

/** The same node as it is once it is cordoned. */
export function withCordon(node: LonghornNodeView): LonghornNodeView {
  const { closing } = node
  return { ...node, isCordoned: true, ...(closing === undefined ? {} : { closing: { ...closing, isCordoned: true } }) }
}
