import { isMarkOfRequest } from '../../../shared/cordon-mark.ts'
import type { DisruptionView } from './disruption-view.ts'
import { ownNode, withRecord } from './disruption-view.ts'
import type { DisruptionRecord } from './snapshot.ts'

const somebodyElse = 'another user'

/** As it stands on the record while the cordon is ours to undo. */
export function ownCordon({ request }: DisruptionView): string {
  return `nodedisruption/${request.name}`
}

export function isOwnCordon(view: DisruptionView): boolean {
  return view.record.cordonedBy === ownCordon(view)
}

/**
 * Another request has closed the node, and an override took the node from it. It waits for the one that holds the node now, and lifts nothing until
 * then; that one would wait for ever for pods that have no place on a closed node, were the cordon not its own to lift.
 */
export function isCordonToTakeOver(view: DisruptionView): boolean {
  const { isCordoned = false, cordonedBy = '' } = ownNode(view) ?? {}
  return isCordoned && isMarkOfRequest(cordonedBy) && cordonedBy !== view.request.id
}

/** Who cordoned the node; ours while it is not cordoned. Written before we set it. */
export function cordonOnRecord(view: DisruptionView): string {
  const { cordonedBy } = view.record
  // What somebody else had set and lifted again is ours when we set it anew.
  if (ownNode(view)?.isCordoned !== true || isCordonToTakeOver(view)) return ownCordon(view)
  return cordonedBy ?? somebodyElse
}

/** The record after our cordon was lifted: whoever cordons the node from now on is somebody else. */
export function withLiftedCordon(view: DisruptionView): DisruptionRecord {
  const node = ownNode(view)
  if (!isOwnCordon(view) || node?.isCordoned === true) return view.record
  return withRecord(view.record, { cordonedBy: `${ownCordon(view)}, lifted` })
}
