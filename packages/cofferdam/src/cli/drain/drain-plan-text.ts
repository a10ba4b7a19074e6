import { lossFlags, lossReasons } from '../../capabilities/drain-lock/domain/pod-losses.ts'
import type { Paint } from '../../shared/paint.ts'
import { obstacleText } from './drain-progress.ts'
import type { PlannedDrain, ServerAnswer } from './drain-result.ts'

/** The plan for people: the verdict, who stays and who leaves, what has to be held, what stands in the way. */
export function renderPlan({ plan, underWay, observedAt, notSeen, server }: PlannedDrain, paint: Paint): string {
  const { node, mayBegin, reason, explanation, blockedBy, warnings } = plan
  // What a decision that goes on says is about its next step, which matters to the operator only.
  const verdict = mayBegin
    ? `${paint('green', 'can start')}: ${countText(plan)}.`
    : `${paint('red', 'blocked')}: ${explanation} (${reason})`
  const row = (name: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`  ${name.padEnd(10)}${names.join(', ')}`]
  return [
    `${paint('bold', `node/${node}`)}  ${verdict}`,
    ...(underWay === undefined ? [] : [`  request   nodedisruption/${underWay} is in progress`]),
    ...row('stay', plan.stays),
    ...row('leave', plan.leaves),
    ...row('leaving', plan.leaving),
    ...row('needs', plan.keys),
    ...blockedBy.map((blocker) => `  ${obstacleText(blocker, { paint, at: observedAt })}`),
    ...warnings.map(({ object, says }) => `  ${paint('yellow', 'warning:')} ${object} ${says}`),
    ...notSeen.map((what) => `  ${paint('yellow', 'not seen:')} ${what}`),
    ...(server === undefined ? [] : serverRows(server, paint)),
  ].join('\n')
}

function countText({ stays, leaves, leaving }: PlannedDrain['plan']): string {
  const pods = (count: number) => (count === 1 ? '1 pod' : `${count} pods`)
  const evicted = `${pods(leaves.length)} ${leaves.length === 1 ? 'is' : 'are'} evicted`
  const rest = [
    ...(stays.length === 0 ? [] : [`${pods(stays.length)} ${stays.length === 1 ? 'stays' : 'stay'}`]),
    ...(leaving.length === 0 ? [] : [`${pods(leaving.length)} ${leaving.length === 1 ? 'is' : 'are'} terminating`]),
  ]
  return ['nothing blocks it now', evicted, ...rest].join(', ')
}

/** What would be granted is counted, what would be refused is named. */
function serverRows(server: readonly ServerAnswer[], paint: Paint): string[] {
  const evictions = server.filter(({ act }) => act === 'evict')
  const granted = evictions.filter(({ isAccepted }) => isAccepted)
  const created = server.find(({ act }) => act === 'create')
  return [
    ...(created?.isAccepted === true ? [`  server    accepts ${created.object}`] : []),
    ...(evictions.length === 0 ? [] : [`  server    grants ${granted.length} of ${evictions.length} evictions now`]),
    ...server
      .filter(({ isAccepted }) => !isAccepted)
      .map(({ object, says = '' }) => `  server    ${paint('red', 'refuses')} ${object}: ${says}`),
  ]
}

const lossWords = {
  force: 'no controller creates them again',
  deleteEmptyDirData: 'the data in their emptyDir volumes would be deleted',
} as const

/** Which pods would be destroyed, and the flag for each kind of loss. */
export function renderRefusal({ plan, notSeen }: PlannedDrain, paint: Paint): string {
  const rows = (Object.keys(lossFlags) as (keyof typeof lossFlags)[]).flatMap((loss) => {
    const pods = plan.blockedBy.filter(({ reason }) => reason === lossReasons[loss]).map(({ object }) => object)
    return pods.length === 0 ? [] : [`  ${lossFlags[loss].padEnd(23)} ${pods.join(', ')}: ${lossWords[loss]}`]
  })
  return [
    `${paint('bold', `node/${plan.node}`)}  ${paint('red', 'refused')}: evicting these pods deletes them or their data for good; no request was created`,
    ...rows,
    ...notSeen.map((what) => `  ${paint('yellow', 'not seen:')} ${what}`),
    '  set the flags to continue, or move the pods first',
  ].join('\n')
}
