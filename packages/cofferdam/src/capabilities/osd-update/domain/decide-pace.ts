import { decideOsdUpdate } from './decide.ts'
import type { OsdUpdateDecision } from './decision.ts'
import { type LabelChange, labelChange } from './pace-label.ts'
import type { UpdatePassSnapshot } from './pass-snapshot.ts'
import { recordSteps } from './record-steps.ts'
import type { UpdatableOsd } from './snapshot.ts'
import type { UpdateStep } from './steps.ts'

/** Objects that change all the time are left to the next pass. */
const mostAttempts = 3

/**
 * What comes before everything else where OSDs are paced: every OSD that is not open is held, whatever is known or frozen; and where
 * they are not paced any more, every label of ours goes, and nothing but them.
 *
 * Guarantees: what is remembered is written before the first label is. Nothing is touched while it is contested whose the
 * Deployments are, or while the cluster is being deleted.
 */
export function paceFirst(pass: UpdatePassSnapshot): readonly UpdateStep[] | undefined {
  const { seen, heard, stored } = pass
  const { cluster, osds, pace, recordProblem } = seen
  if (cluster.isBeingDeleted || cluster.mode === 'contested') return undefined
  const isTired = (heard.labelled ?? 0) >= mostAttempts
  if (cluster.mode !== 'pace') {
    const freed = isTired
      ? []
      : changesOf(
          pass,
          osds.filter(({ pace: own }) => own?.hold === 'ours'),
          'free',
        )
    return labelling(freed)
  }
  if (pace === undefined && recordProblem === undefined) return [{ do: 'ask', ask: 'rook' }]
  const held = isTired
    ? []
    : changesOf(
        pass,
        osds.filter((osd) => isExposed(osd, pass)),
        'hold',
      )
  if (recordProblem === undefined && stored.record.pace === undefined && pace !== undefined) {
    const decision = decideOsdUpdate({ ...seen, ceph: undefined })
    const change = { record: { ...stored.record, pace }, starts: stored.starts, decision }
    return [...recordSteps(stored, cluster, change), { do: 'write', write: 'labels', changes: held, isFirst: true }]
  }
  const labels = labelling(held)
  if (labels !== undefined) return labels
  const isAsked = (pace?.open.length ?? 0) > 0 || seen.isWalking === true
  return isAsked && heard.hasRook !== true ? [{ do: 'ask', ask: 'rook' }] : undefined
}

/** What follows the record: those that left the round are held again, and Rook is asked for a pass. */
export function paceLast(
  pass: UpdatePassSnapshot,
  { record }: Pick<OsdUpdateDecision, 'record'>,
): readonly UpdateStep[] {
  const { seen, heard } = pass
  if (seen.cluster.mode !== 'pace' || record.pace === undefined) return []
  const isOpen = new Set(record.pace.open.map(({ osd }) => osd))
  const left = seen.osds.filter((osd) => isExposed(osd, pass, isOpen))
  const steps: UpdateStep[] = []
  const changes = changesOf(pass, left, 'hold')
  if (changes.length > 0) steps.push({ do: 'write', write: 'labels', changes, isFirst: false })
  const asked = record.pace.pass
  const isAsked = asked !== undefined && asked.isSeen !== true && heard.hasRook === true
  if (isAsked && seen.rook?.problem === undefined && seen.rook?.asked !== passToken(asked.atMs)) {
    steps.push({ do: 'write', write: 'pass-request', token: passToken(asked.atMs) })
  }
  return steps
}

function passToken(atMs: number): string {
  return String(atMs)
}

function isExposed(
  { id, pace: own }: UpdatableOsd,
  { seen }: UpdatePassSnapshot,
  isOpen: ReadonlySet<number> = new Set(seen.pace?.open.map(({ osd }) => osd)),
): boolean {
  return own?.hold === 'none' && !own.isExempt && !isOpen.has(id)
}

export function changesOf(
  { deployments }: Pick<UpdatePassSnapshot, 'deployments'>,
  osds: readonly Pick<UpdatableOsd, 'id'>[],
  change: LabelChange['change'],
): readonly LabelChange[] {
  return osds.flatMap(({ id }) => {
    const deployment = deployments.get(id)
    return deployment === undefined ? [] : [labelChange(id, deployment, change)]
  })
}

function labelling(changes: readonly LabelChange[]): readonly UpdateStep[] | undefined {
  return changes.length === 0 ? undefined : [{ do: 'write', write: 'labels', changes, isFirst: true }]
}
