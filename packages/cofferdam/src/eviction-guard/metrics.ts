import { Counter, Histogram, type Registry } from 'prom-client'

export interface GuardFigures {
  readonly verdict: 'allowed' | 'refused' | 'malformed'
  /** Why, in the words of the rule; a closed list. */
  readonly reason: string
  readonly tookMs: number
}

/** What the eviction guard was asked, and what it said. */
export function createGuardMetrics(registry: Registry) {
  const registers = [registry]
  const reviews = new Counter({
    name: 'cofferdam_guard_reviews_total',
    help: 'Reviews that the eviction guard answered, by verdict.',
    labelNames: ['verdict'] as const,
    registers,
  })
  const refusals = new Counter({
    name: 'cofferdam_guard_refusals_total',
    help: 'Evictions that the guard refused, by reason.',
    labelNames: ['reason'] as const,
    registers,
  })
  const seconds = new Histogram({
    name: 'cofferdam_guard_review_duration_seconds',
    help: 'Time the guard took for one review.',
    buckets: [0.0005, 0.001, 0.005, 0.025, 0.1, 0.5, 1, 3],
    registers,
  })
  return {
    count({ verdict, reason, tookMs }: GuardFigures) {
      reviews.inc({ verdict })
      if (verdict === 'refused') refusals.inc({ reason })
      seconds.observe(tookMs / 1_000)
    },
  }
}
