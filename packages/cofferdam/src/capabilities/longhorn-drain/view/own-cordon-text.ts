import { taintText } from '../../../shared/closed-node.ts'
import type { LonghornNodeView } from '../domain/snapshot.ts'

/** Why Cofferdam has cordoned the node; undefined where it has not. */
export function ownCordonText({
  ownCordon,
  closing,
}: Pick<LonghornNodeView, 'ownCordon' | 'closing'>): string | undefined {
  if (ownCordon !== 'set') return undefined
  const taint = closing?.taint
  return taint === undefined
    ? 'cordoned by Cofferdam so that Longhorn saw a taint, which is gone; it is uncordoned next'
    : `cordoned by Cofferdam, since Longhorn does not see ${taintText(taint)}; uncordoned when the taint is gone`
}
