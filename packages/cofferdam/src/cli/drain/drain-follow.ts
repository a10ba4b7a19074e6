import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { type Clock, sleep, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import {
  type DisruptionAnswer,
  explainDisruption,
  isOver,
} from '../../capabilities/drain-lock/view/explain-disruption.ts'
import { harmlessData, harmlessText } from '../../shared/harmless-text.ts'
import { type NodeDisruption, nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import type { Terminal } from '../terminal.ts'
import { ProgressLog, progressLine } from './drain-progress.ts'

export interface Followed {
  /** As it was seen last. */
  readonly answer: DisruptionAnswer
  readonly ended: 'reached' | 'gone' | 'timed-out' | 'interrupted'
  /** The phase in which it reached what was wanted; where several are followed, it goes on meanwhile. */
  readonly reachedIn?: DisruptionAnswer['phase']
}

export interface FollowOptions {
  readonly api: Pick<KubeApi, 'get' | 'list'>
  readonly clock: Clock
  readonly terminal: Terminal
  readonly signal: AbortSignal
  /** 0: no limit. */
  readonly timeoutMs: number
  readonly isReached: (answer: DisruptionAnswer) => boolean
  /** Whether the answer to a request is overdue. */
  readonly isOverdue?: (answer: DisruptionAnswer) => boolean
  /** Whether lines say which node they are about. */
  readonly isOne: boolean
  /** The command has just ended the state that the requests are in: no line is printed of it. */
  readonly isAfter?: boolean
}

const pollEveryMs = 1_000

interface Track {
  readonly first: NodeDisruption
  readonly log: ProgressLog
  seen: NodeDisruption | undefined
  answer: DisruptionAnswer
  ended: Followed['ended'] | undefined
  reachedIn: DisruptionAnswer['phase'] | undefined
}

/** Polls requests until each reaches the wanted state, and prints what happens meanwhile. In the order of the requests. */
export async function followDisruptions(
  requests: readonly NodeDisruption[],
  options: FollowOptions,
): Promise<readonly Followed[]> {
  const { clock, terminal, signal, timeoutMs } = options
  const deadline = timeoutMs === 0 ? Number.POSITIVE_INFINITY : clock.now() + timeoutMs
  const width = Math.max(0, ...requests.map(({ spec }) => spec.nodeName.length))
  const tracks = requests.map((first) => openTrack(first, width, options))
  const reader = new RequestReader(options)
  try {
    for (;;) {
      const at = timestamp(clock)
      for (const track of tracks) report(track, at, options)
      const open = tracks.filter(({ ended }) => ended === undefined)
      if (open.length === 0) break
      const isEnding = signal.aborted ? 'interrupted' : clock.now() >= deadline ? 'timed-out' : undefined
      if (isEnding !== undefined) {
        for (const track of open) track.ended = isEnding
        break
      }
      terminal.progress(progressLine(harmlessData(open.map(({ answer }) => answer)), at))
      await sleep(clock, Math.min(pollEveryMs, deadline - clock.now()), signal)
      await reader.read(tracks)
    }
  } finally {
    terminal.progress(undefined)
  }
  return tracks.map(({ answer, ended = 'interrupted', reachedIn }) =>
    reachedIn === undefined ? { answer, ended } : { answer, ended, reachedIn },
  )
}

function openTrack(first: NodeDisruption, width: number, { terminal, isOne, isAfter }: FollowOptions): Track {
  const answer = explainDisruption(first)
  const prefix = isOne ? '' : terminal.paint('bold', first.spec.nodeName.padEnd(width))
  const log = new ProgressLog({
    paint: terminal.paint,
    prefix,
    after: isAfter === true ? harmlessData(answer) : undefined,
  })
  return { first, log, seen: first, answer, ended: undefined, reachedIn: undefined }
}

function report(track: Track, at: string, { terminal, isReached, isOverdue }: FollowOptions): void {
  if (track.seen === undefined) {
    // A request that was reported as drained and is gone holds nothing for its node any more.
    if (!isOver(track.answer)) track.ended = 'gone'
    return
  }
  track.answer = explainDisruption(track.seen)
  for (const line of track.log.lines(harmlessData(track.answer), at)) terminal.note(line)
  // A pod that came later takes the word back.
  if (track.reachedIn === 'Drained' && track.answer.phase === 'Draining') track.ended = undefined
  if (track.ended !== undefined) return
  if (isReached(track.answer)) {
    track.ended = 'reached'
    track.reachedIn = track.answer.phase
  } else if (isOverdue?.(track.answer) === true) track.ended = 'timed-out'
}

/** One request is read by its name, several in one list. */
class RequestReader {
  readonly #options: FollowOptions
  #isSilent = false

  constructor(options: FollowOptions) {
    this.#options = options
  }

  async read(tracks: readonly Track[]): Promise<void> {
    const { api, terminal } = this.#options
    const [only] = tracks
    try {
      if (only !== undefined && tracks.length === 1) {
        only.seen = ownOf(only, [await api.get(nodeDisruptions, { name: only.first.metadata.name })])
      } else {
        const { items } = await api.list(nodeDisruptions)
        for (const track of tracks) track.seen = ownOf(track, items)
      }
      this.#isSilent = false
    } catch (error) {
      if (only !== undefined && hasReason(error, 'NotFound')) {
        only.seen = undefined
        return
      }
      if (!(error instanceof CofferdamError) || error.retry === 'never') throw error
      const subject = tracks.length === 1 ? 'the request continues, and it is' : 'the requests continue, and they are'
      if (!this.#isSilent) terminal.note(`${harmlessText(error.message)}; ${subject} read again`)
      this.#isSilent = true
    }
  }
}

function ownOf({ first }: Track, items: readonly NodeDisruption[]): NodeDisruption | undefined {
  return items.find(({ metadata }) => metadata.name === first.metadata.name && metadata.uid === first.metadata.uid)
}
