import { countedText } from '../../capabilities/longhorn-drain/view/counted-text.ts'
import { progressText } from '../../capabilities/longhorn-drain/view/longhorn-text.ts'
import { movesText } from '../../capabilities/longhorn-drain/view/move-counts.ts'
import type { Reason } from '../../shared/reasons.ts'
import type { LonghornKeep, LonghornPanelModel, LonghornPlace } from './longhorn-panel-model.ts'

/** By id of the budget: why Longhorn keeps it, if it does. */
export type KeepOf = (budget: string) => LonghornKeep | undefined

export function keepsOf(panels: readonly LonghornPanelModel[]): KeepOf {
  const keeps = new Map(panels.flatMap((panel) => panel.keeps).map((keep) => [keep.budget, keep]))
  return (budget) => keeps.get(budget)
}

/** Budgets of instance managers on open nodes allow no disruption by design, so nobody needs to hear of it. */
export function isKeptOpen(keep: LonghornKeep | undefined): boolean {
  return keep?.reason === ('NotCordoned' satisfies Reason)
}

export function placesOf(panels: readonly LonghornPanelModel[]): ReadonlyMap<string, LonghornPlace> {
  return new Map(panels.flatMap((panel) => panel.places).map((place) => [place.node, place]))
}

/** What Longhorn has on a node, in one line. */
export function placeText({ replicas, attached, leaving }: LonghornPlace): string {
  if (leaving !== undefined && leaving.moving > 0) {
    const far = leaving.progress === undefined ? '' : `, ${progressText(leaving.progress)}`
    return `Longhorn: ${movesText(leaving.moves)}${far}`
  }
  const parts = [
    countedText(replicas, 'replica'),
    ...(attached === 0 ? [] : [`${countedText(attached, 'volume')} in use`]),
  ]
  const held = leaving === undefined || leaving.mayDrain ? '' : `, held: ${leaving.reason}`
  return `Longhorn: ${parts.join(', ')}${held}`
}

/** How much of what had to move has moved, from 0 to 1; undefined where nobody noted it. */
export function movedShare({ leaving }: LonghornPlace): number | undefined {
  const { bytes, bytesLeft = 0 } = leaving?.progress ?? {}
  return bytes === undefined || bytes === 0 ? undefined : Math.min(1, Math.max(0, 1 - bytesLeft / bytes))
}

/** For the headline: what of Longhorn a node that leaves waits for. */
export function longhornSentence(place: LonghornPlace | undefined): string | undefined {
  const { node = '', leaving } = place ?? {}
  if (leaving === undefined || leaving.mayDrain) return undefined
  if (leaving.progress !== undefined && leaving.reason === ('ReplicaMoving' satisfies Reason)) {
    return `${node} waits for Longhorn: ${progressText(leaving.progress)}.`
  }
  return `Longhorn holds ${node}: ${leaving.explanation}`
}
