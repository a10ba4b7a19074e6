import type { HoldAnswer } from '../../capabilities/drain-lock/view/hold-view.ts'
import { verdictOf } from '../../explain/judge-unread.ts'
import type { Reader } from '../../observe/reader.ts'
import type { Blocker } from '../../shared/blocker.ts'
import { observeWedge } from './observe-nodes.ts'
import type { Answer, Explained } from './question.ts'

/** The answer with its time, with what could not be read and, where it is blocked, with the circle of waits that it is in. */
export async function answered(answer: Answer, read: Reader): Promise<Explained> {
  const verdict = verdictOf(answer)
  const wedge = verdict === 'blocked' ? await observeWedge(waiting(answer), read) : {}
  const summary =
    verdict === 'unknown' ? 'It is not known whether it may go: what may hold it cannot be read.' : answer.summary
  const blockers = answer.blockers.map((each) => withEstimate(each, answer.holds))
  return { ...answer, blockers, summary, verdict, ...wedge, observedAt: read.now, notSeen: [...new Set(read.notSeen)] }
}

/** When what holds it is likely to be free: a budget, or the storage behind it. */
function withEstimate(blocker: Blocker, holds: readonly HoldAnswer[]): Blocker {
  const keys = [
    blocker.object,
    ...[blocker.object, blocker.holder].map((name) => name.replace(/^cephcluster\//, 'storage/')),
  ]
  const estimate = keys.flatMap((key) => holds.find((hold) => hold.key === key)?.estimate ?? [])[0]
  return estimate === undefined ? blocker : { ...blocker, estimate }
}

/** The object itself, and the pods that wait with it. */
function waiting({ object, blockers }: Answer): readonly string[] {
  return [object, ...blockers.flatMap((each) => [each.object, ...each.waiting])]
}
