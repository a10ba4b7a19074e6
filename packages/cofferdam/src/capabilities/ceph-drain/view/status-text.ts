import { ageText } from '../../../shared/age-text.ts'
import { listText } from '../../../shared/list-text.ts'
import type { TextStyle } from '../../../shared/paint.ts'
import type { StorageView } from '../../../shared/storage-view.ts'

/** What was decided about one Ceph cluster, then a line for each thing that is worth one. */
export function storageStatusLines(view: StorageView, style: TextStyle): string[] {
  return [storageText(view, style), ...ownershipTexts(view), ...storageDetails(view, style.now)]
}

function storageText({ namespace, name, ...view }: StorageView, { now, paint }: TextStyle): string {
  const word = paint(view.source === 'none' ? 'yellow' : 'cyan', view.reason)
  return `${namespace}/${name}: ${word}${forText(view.since, now)}: ${view.explanation}`
}

function ownershipTexts({ budgets, updates }: StorageView): string[] {
  if (budgets === undefined) return []
  return [`budgets: ${budgets}${updates === undefined ? '' : `, OSD updates: ${updates}`}`]
}

function storageDetails({ openDomains, noout, problems, ...view }: StorageView, now: string): string[] {
  return [
    ...(view.isAttended === false
      ? [`this may be out of date: no operator has updated it${forText(view.unattendedSince, now)}`]
      : []),
    ...heldTexts(view),
    ...(openDomains.length === 0 ? [] : [`open: ${openDomains.join(', ')}`]),
    ...(noout.length === 0 ? [] : [`noout: ${noout.join(', ')}`]),
    ...problems.map((problem) => `problem: ${problem}`),
    ...(view.cephLog === undefined ? [] : [logText(view.cephLog)]),
  ]
}

/** The failure domains that wait, by reason; where all may go, the line above has said it. */
function heldTexts({ failureDomainType, domains, domainCounts }: Partial<StorageView>): string[] {
  const type = failureDomainType ?? 'failure domain'
  const held = (domains ?? []).filter(({ mayDrain }) => !mayDrain)
  const reasons = [...new Set(held.map(({ reason }) => reason))]
  const unlisted = (domainCounts?.held ?? 0) - held.length
  return [
    ...reasons.map((reason) => {
      const names = held.filter((answer) => answer.reason === reason).map(({ domain }) => domain)
      return `${type} ${listText(names)}: may not be drained now (${reason})`
    }),
    ...(unlisted > 0 ? [`${unlisted} more of ${domainCounts?.total} may not be drained now`] : []),
  ]
}

function logText(cephLog: string): string {
  return cephLog === 'followed' ? 'Ceph log: followed' : `Ceph log: ${cephLog}; Ceph is polled every minute`
}

function forText(since: string | undefined, now: string): string {
  const age = ageText(since, now)
  return age === undefined ? '' : ` for ${age}`
}
