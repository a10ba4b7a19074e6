import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { isWithin } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { buildAttempt, evictionAttemptedAnnotation } from '../capabilities/drain-detection/domain/attempt.ts'
import type { SeenAttempt } from './eviction-attempts.ts'

export interface AttemptPublisherOptions {
  readonly api: Pick<KubeApi, 'patch'>
  readonly clock: Clock
  /** An eviction from a node that takes new pods is no drain: autoscalers and balancers do that all day. */
  readonly isClosed: (node: string) => boolean
  /** At most one write for a node in this time, and one more when it is refused for another reason. Default one minute. */
  readonly everyMs?: number
  readonly onError?: (error: unknown) => void
}

export interface AttemptPublisher {
  publish(attempt: SeenAttempt): void
  /** Resolves when what is under way has ended; nothing is written after. */
  stop(): Promise<void>
}

const mostUnderWay = 4
const mostWaiting = 10_000

/**
 * Writes on the node that somebody tries to empty it. Every guard writes what it saw itself, so that no two have to agree;
 * whoever decides about drains reads it there.
 *
 * Guarantees: at most one write per node and minute, few at once, and nobody waits for them; what fails is dropped, since
 * the next attempt writes again.
 */
export function createAttemptPublisher(options: AttemptPublisherOptions): AttemptPublisher {
  const { api, clock, isClosed, everyMs = 60_000, onError = () => {} } = options
  const writtenAt = new Map<string, number>()
  const toldAt = new Map<string, number>()
  const waiting = new Map<string, SeenAttempt>()
  const underWay = new Set<Promise<void>>()
  const stopping = new AbortController()

  function forgetOld(now: number): void {
    for (const [node, at] of writtenAt) {
      if (isWithin(now, at, everyMs)) break
      writtenAt.delete(node)
    }
    for (const [node, at] of toldAt) {
      if (isWithin(now, at, everyMs)) break
      toldAt.delete(node)
    }
  }

  /** A refusal is not held back by the attempt before it; it is written once in this time. */
  function isNews({ node, refused }: SeenAttempt): boolean {
    return refused !== undefined && !toldAt.has(node)
  }

  function writeNext(): void {
    while (underWay.size < mostUnderWay && !stopping.signal.aborted) {
      const [next] = waiting.values()
      if (next === undefined) return
      waiting.delete(next.node)
      const writing = write(next).finally(() => {
        underWay.delete(writing)
        writeNext()
      })
      underWay.add(writing)
    }
  }

  async function write({ node, by, lastMs, refused }: SeenAttempt): Promise<void> {
    const attempt = { by, atMs: lastMs, ...(refused === undefined ? {} : { refusedFor: refused.says }) }
    const annotations = { [evictionAttemptedAnnotation]: buildAttempt(attempt) }
    try {
      const patch = { type: 'merge', body: { metadata: { annotations } } } as const
      await api.patch(nodes, { name: node }, patch, { signal: stopping.signal })
    } catch (error) {
      if (!stopping.signal.aborted && !hasReason(error, 'NotFound')) onError(error)
    }
  }

  return {
    publish(attempt) {
      const now = clock.now()
      forgetOld(now)
      if (stopping.signal.aborted || !isClosed(attempt.node)) return
      if ((writtenAt.has(attempt.node) && !isNews(attempt)) || waiting.size >= mostWaiting) return
      writtenAt.delete(attempt.node)
      writtenAt.set(attempt.node, now)
      if (attempt.refused !== undefined) {
        toldAt.delete(attempt.node)
        toldAt.set(attempt.node, now)
      }
      waiting.set(attempt.node, attempt)
      writeNext()
    },
    async stop() {
      stopping.abort()
      waiting.clear()
      await Promise.all(underWay)
    },
  }
}
