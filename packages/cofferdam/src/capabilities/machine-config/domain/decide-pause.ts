import { durationText } from '@cofferdam/kubernetes/api/duration.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import { listText } from '../../../shared/list-text.ts'
import type { Reason } from '../../../shared/reasons.ts'
import type { Step } from '../../../shared/steps.ts'
import { isRequestOver } from '../../../shared/tool-request.ts'
import { poolOf } from './pool-of.ts'
import type { MachineConfigSnapshot, PoolView } from './snapshot.ts'

/** How long a pause may last: a pool that is paused gets no update at all, those of its certificates in older versions included. */
export const longestPauseMs = 6 * 3_600_000

/** Change the pause of a pool and the note about it, in one write, and record why. */
export interface WritePause extends Step {
  readonly do: 'write'
  readonly write: 'pause'
  readonly pool: string
  /** As it was judged: a write on any other version is refused. */
  readonly about: PoolView['about']
  /** Undefined: as it is. */
  readonly paused: boolean | undefined
  /** Undefined: the note goes. */
  readonly note: { readonly since: string; readonly for: string } | { readonly lifted: string } | undefined
  readonly event: { readonly type: 'Normal' | 'Warning'; readonly reason: Reason; readonly note: string } | undefined
}

export interface PauseDecision {
  readonly steps: readonly WritePause[]
  readonly recheckAfterMs: number | undefined
}

/**
 * Which pools are paused, so that the Machine Config Operator begins with no further node of theirs.
 *
 * Guarantees: only pools whose administrator allows it; only a pause that carries our note is ended, and one that somebody else ended, or that
 * lasted too long, does not begin again until no request is left. Fails closed: while requests are not known nothing is changed.
 */
export function decidePauses(snapshot: MachineConfigSnapshot): PauseDecision {
  const { requests, pools, nodes, nowMs } = snapshot
  if (!requests.known) return { steps: [], recheckAfterMs: undefined }
  const standing = new Set(requests.value.filter((each) => !isRequestOver(each)).map(({ spec }) => spec.nodeName))
  const busy = new Map<string, string[]>()
  for (const node of nodes) {
    const pool = standing.has(node.name) ? poolOf(pools, node)?.name : undefined
    if (pool !== undefined) busy.set(pool, [...(busy.get(pool) ?? []), node.name])
  }
  const steps: WritePause[] = []
  const waits: number[] = []
  for (const pool of pools) {
    const change = pool.isDeleted ? undefined : decidePause(pool, busy.get(pool.name) ?? [], nowMs)
    if (change !== undefined) steps.push({ do: 'write', write: 'pause', pool: pool.name, about: pool.about, ...change })
    else if (pool.mark.is === 'paused') waits.push(pool.mark.sinceMs + longestPauseMs - nowMs)
  }
  return { steps, recheckAfterMs: waits.length === 0 ? undefined : Math.max(1_000, Math.min(...waits)) }
}

type PauseChange = Pick<WritePause, 'paused' | 'note' | 'event'>

function decidePause(pool: PoolView, busy: readonly string[], nowMs: number): PauseChange | undefined {
  const { mark, isPaused, isManaged } = pool
  const isWanted = isManaged && busy.length > 0
  switch (mark.is) {
    case 'absent':
      return isWanted && !isPaused ? pause(busy, nowMs) : undefined
    case 'lifted':
      return isWanted ? undefined : { paused: undefined, note: undefined, event: undefined }
    case 'changed':
      return undefined
    case 'paused':
      break
  }
  if (!isPaused) return isWanted ? endedByOthers(busy, nowMs) : { paused: undefined, note: undefined, event: undefined }
  if (!isWanted) return resume(isManaged)
  // A time that has not come yet was written by a clock that is wrong: the pause could last for years.
  const isTooLong = nowMs - mark.sinceMs >= longestPauseMs || mark.sinceMs > nowMs + clockSlackMs
  return isTooLong ? endedByTime(busy, nowMs) : undefined
}

const clockSlackMs = 5 * 60_000

function pause(busy: readonly string[], nowMs: number): PauseChange {
  const names = listText(busy)
  return {
    paused: true,
    note: { since: rfc3339(nowMs), for: names },
    event: {
      type: 'Normal',
      reason: 'PoolPaused',
      note: `Paused while requests stand for ${names}, for ${durationText(longestPauseMs)} at most: no further node of the pool is updated. Nodes whose update has begun go on.`,
    },
  }
}

function resume(isManaged: boolean): PauseChange {
  const why = isManaged
    ? 'No request stands for a node of the pool.'
    : 'The pool is not to be paused by Cofferdam any more.'
  return { paused: false, note: undefined, event: { type: 'Normal', reason: 'PoolResumed', note: why } }
}

function endedByTime(busy: readonly string[], nowMs: number): PauseChange {
  return {
    paused: false,
    note: { lifted: rfc3339(nowMs) },
    event: {
      type: 'Warning',
      reason: 'PoolPauseEnded',
      note: `Paused for ${durationText(longestPauseMs)}, and requests still stand for ${listText(busy)}. The pool is updated beside them, and is not paused again until they are over.`,
    },
  }
}

function endedByOthers(busy: readonly string[], nowMs: number): PauseChange {
  return {
    paused: undefined,
    note: { lifted: rfc3339(nowMs) },
    event: {
      type: 'Warning',
      reason: 'PoolPauseEnded',
      note: `Someone else ended the pause while requests stand for ${listText(busy)}. The pool is not paused again until they are over.`,
    },
  }
}
