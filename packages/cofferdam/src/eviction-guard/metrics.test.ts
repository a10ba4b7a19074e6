import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { createGuardMetrics } from './metrics.ts'

it('counts reviews by verdict, and refusals by reason', async () => {
  const registry = new Registry()
  const metrics = createGuardMetrics(registry)
  metrics.count({ verdict: 'allowed', reason: 'NothingHeld', tookMs: 0.2 })
  metrics.count({ verdict: 'refused', reason: 'AppLocked', tookMs: 40 })
  const text = await registry.metrics()
  expect(
    text.split('\n').filter((line) => /_total|_bucket.*"0\.(0005|1)"|_count/.test(line) && !line.startsWith('#')),
  ).toEqual([
    'cofferdam_guard_reviews_total{verdict="allowed"} 1',
    'cofferdam_guard_reviews_total{verdict="refused"} 1',
    'cofferdam_guard_refusals_total{reason="AppLocked"} 1',
    'cofferdam_guard_review_duration_seconds_bucket{le="0.0005"} 1',
    'cofferdam_guard_review_duration_seconds_bucket{le="0.1"} 2',
    'cofferdam_guard_review_duration_seconds_count 2',
  ])
})
