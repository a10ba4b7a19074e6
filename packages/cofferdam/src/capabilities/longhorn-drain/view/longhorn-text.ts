import { bytesText } from '../domain/bytes-text.ts'
import { countedText } from './counted-text.ts'
import type { LonghornAnswer, LonghornHold, LonghornRule, MoveProgress } from './longhorn-answer.ts'
import { countMoves, movesText } from './move-counts.ts'

/** Who decides, by what, and how far it is: one line each. Empty lines are for whoever prints them to leave out. */
export function longhornLines(answer: LonghornAnswer): string[] {
  const { cordon } = answer
  return [
    `${ruleText(answer)}; ${countedText(answer.replicas, 'replica')} here`,
    ...(cordon === undefined ? [] : [cordon]),
    ...outlookLines(answer),
  ]
}

export function ruleText(rule: LonghornRule): string {
  const { mode, reverted, policy, inForce, trigger, isAttended } = rule
  const asked = policy === undefined ? 'its policy is unknown' : `policy ${policy}`
  const other = inForce === undefined ? '' : ` while a node is drained, else ${inForce}`
  const when = trigger === 'drain' ? ', and nothing moves before a drain starts' : ''
  const nobody = isAttended === false ? '; no operator is running' : ''
  const alarm = reverted === undefined ? '' : `; ${reverted}`
  return `${modeWords[mode]}, ${asked}${other}${when}${nobody}${alarm}`
}

const modeWords = {
  observe: 'Longhorn decides (observe)',
  guide: 'Longhorn decides, guided (guide)',
  hold: 'Longhorn decides, guided and held by the operator (hold)',
} as const

function outlookLines(answer: LonghornAnswer): string[] {
  const { isRehearsed, mayDrain, moving, progress, heldBy } = answer
  if (!isRehearsed) {
    if (moving.length > 0) return [`${movesText(countMoves(moving))}${progressSuffix(progress)}`]
    return mayDrain ? ['nothing of Longhorn holds the node'] : []
  }
  if (mayDrain && moving.length === 0) return ['drained now, nothing of Longhorn would hold it']
  const volumes = new Set(heldBy.filter(isTakenAlong).map(({ volume }) => volume)).size
  const lasting = new Set(heldBy.filter(({ passes }) => !passes).map(({ object }) => object))
  const movers = moving.filter(({ replica }) => !lasting.has(`replica/${replica}`))
  const bytes = bytesText(movers.reduce((sum, each) => sum + each.bytes, 0))
  const parts = [
    ...(movers.length === 0 ? [] : [`${countedText(movers.length, 'replica')} (${bytes}) would move first`]),
    ...(volumes === 0
      ? []
      : [`${countedText(volumes, 'volume')} would go with ${volumes === 1 ? 'its' : 'their'} pods`]),
    ...(lasting.size === 0 ? [] : [`${countedText(lasting.size, 'thing')} would hold it`]),
  ]
  return [`drained now, ${parts.join(', ')}`]
}

function isTakenAlong({ passes, reason }: LonghornHold): boolean {
  return passes && reason === 'VolumeAttached'
}

export function progressSuffix(progress: MoveProgress | undefined): string {
  return progress === undefined ? '' : `: ${progressText(progress)}`
}

/** `2.1 GiB of 6 GiB moved, 100 MiB/s, about 40 s left` */
export function progressText({ bytesLeft, bytes, bytesPerSecond, secondsLeft, isIdle }: MoveProgress): string {
  const idle = isIdle === true ? '; nothing is being copied now' : undefined
  if (bytes === undefined)
    return `${bytesText(bytesLeft)} left${idle ?? '; its start was not recorded, so its pace is not known'}`
  const moved = `${bytesText(bytes - bytesLeft)} of ${bytesText(bytes)} moved`
  if (idle !== undefined) return `${moved}${idle}`
  if (bytesPerSecond === undefined || secondsLeft === undefined) return `${moved}; its pace is not known yet`
  return `${moved}, ${bytesText(bytesPerSecond)}/s, about ${durationText(secondsLeft)} left`
}

function durationText(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  return `${Math.round(seconds / 3600)} h`
}
