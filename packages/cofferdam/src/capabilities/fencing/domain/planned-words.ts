import { durationText } from '@cofferdam/kubernetes/api/duration.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { FenceAnswer } from './decision.ts'
import type { PlannedOutage } from './planned-outages.ts'

type Words = Pick<FenceAnswer, 'mayFence' | 'reason' | 'explanation' | 'wayOut'>

/** Protected, or not any more, in words. The same for as long as it is so. */
export function plannedWords(outage: PlannedOutage): Words {
  const { node, request, by } = outage
  const who = by === `nodedisruption/${request}` ? by : `${by} (nodedisruption/${request})`
  if (outage.isOver) {
    const since = rfc3339(outage.untilMs)
    const explanation = `${who} took it out for a reboot, and it is not back: it is not protected from remediation since ${since}.`
    const wayOut = `If it takes longer: kubectl patch nodedisruption ${request} --type merge -p '{"spec":{"returnWithin":"4h"}}'.`
    return { mayFence: true, reason: 'PlannedOutageOver', explanation, wayOut }
  }
  return {
    mayFence: false,
    reason: 'PlannedOutage',
    explanation: `${who} takes it out for a reboot: it is protected from remediation ${untilText(outage)}.`,
    wayOut: `That ends when the node is back. To have it fenced before: cofferdam uncordon ${node}, or kubectl delete nodedisruption ${request}.`,
  }
}

function untilText({ awaySinceMs, untilMs, returnWithinMs }: PlannedOutage): string {
  if (awaySinceMs !== undefined) return `until ${rfc3339(untilMs)}`
  const deadline = untilMs === undefined ? '' : `, and not after ${rfc3339(untilMs)}`
  return `for ${durationText(returnWithinMs)} from when it stops being Ready${deadline}`
}
