import type { Reader } from '../../observe/reader.ts'
import { observeWedge } from './observe-nodes.ts'
import type { Answer, Explained } from './question.ts'

/** The answer with its time, with what could not be read and, where it is blocked, with the circle of waits that it is in. */
export async function answered(answer: Answer, read: Reader): Promise<Explained> {
  const wedge = answer.mayGo ? {} : await observeWedge(waiting(answer), read)
  return { ...answer, ...wedge, observedAt: read.now, notSeen: [...new Set(read.notSeen)] }
}

/** The object itself, and the pods that wait with it. */
function waiting({ object, blockers }: Answer): readonly string[] {
  return [object, ...blockers.flatMap((each) => [each.object, ...each.waiting])]
}
