import { ageText } from '../../../shared/age-text.ts'
import type { OsdUpdateAnswer } from './explain-osd-update.ts'

const words = {
  done: 'up to date',
  running: 'restarting',
  waits: 'waits',
  blocked: 'blocked',
  failed: 'failed',
  'left-alone': 'left alone',
  unknown: 'unknown',
} as const

/** How far the update of an OSD is, and what can be done about it. */
export function osdUpdateLines(answer: OsdUpdateAnswer, now: string): string[] {
  const age = ageText(answer.since, now)
  const since = age === undefined ? '' : answer.state === 'failed' ? ` ${age} ago` : ` for ${age}`
  const reason = answer.reason === undefined || answer.state === 'done' ? '' : ` (${answer.reason})`
  return [
    `${words[answer.state]}${since}: ${answer.explanation}${reason}`,
    ...(answer.wayOut === undefined ? [] : [`what to do: ${answer.wayOut}`]),
  ]
}
