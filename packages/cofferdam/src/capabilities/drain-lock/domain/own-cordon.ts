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

/** Who cordoned the node; ours while it is not cordoned. Written before we set it. */
export function cordonOnRecord(view: DisruptionView): string {
  const { cordonedBy } = view.record
  // What somebody else had set and lifted again is ours when we set it anew.
  if (ownNode(view)?.isCordoned !== true) return ownCordon(view)
  return cordonedBy ?? somebodyElse
}

/** The record after our cordon was lifted: whoever cordons the node from now on is somebody else. */
export function withLiftedCordon(view: DisruptionView): DisruptionRecord {
  const node = ownNode(view)
  if (!isOwnCordon(view) || node?.isCordoned === true) return view.record
  return withRecord(view.record, { cordonedBy: `${ownCordon(view)}, lifted` })
}
