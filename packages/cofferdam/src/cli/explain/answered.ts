import { verdictOf } from '../../explain/judge-unread.ts'
import type { Reader } from '../../observe/reader.ts'
import { observeWedge } from './observe-nodes.ts'
import type { Answer, Explained } from './question.ts'

/** The answer with its time, with what could not be read and, where it is blocked, with the circle of waits that it is in. */
export async function answered(answer: Answer, read: Reader): Promise<Explained> {
  const verdict = verdictOf(answer)
  const wedge = verdict === 'blocked' ? await observeWedge(waiting(answer), read) : {}
  const summary =
    verdict === 'unknown' ? 'It is not known whether it may go: what may hold it cannot be read.' : answer.summary
  return { ...answer, summary, verdict, ...wedge, observedAt: read.now, notSeen: [...new Set(read.notSeen)] }
}

/** The object itself, and the pods that wait with it. */
function waiting({ object, blockers }: Answer): readonly string[] {
  return [object, ...blockers.flatMap((each) => [each.object, ...each.waiting])]
}
