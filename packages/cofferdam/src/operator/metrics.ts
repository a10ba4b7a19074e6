import type { Outcome } from '@cofferdam/kubernetes/runtime/controller.ts'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import packageFile from '../../../../package.json' with { type: 'json' }
import { createCephCounts } from '../ceph/ceph-metrics.ts'
import { createGuardMetrics } from '../eviction-guard/metrics.ts'
import { capabilities, type OperatorCapability } from './capabilities.ts'

/** Figures that are read when they are asked for, not pushed when they change. */
export interface LiveFigures {
  /** Keys that wait, by controller. */
  queueKeys(): Readonly<Record<string, number>>
  /** Age of the view of each resource. */
  cacheAgeSeconds(): Readonly<Record<string, number>>
}

/** Every metric of the operator and of what it can do. Made by a factory, so that two operators in one process do not share counts. */
export function createMetrics(list: readonly OperatorCapability[] = capabilities) {
  const registry = new Registry()
  const registers = [registry]
  let live: LiveFigures = { queueKeys: () => ({}), cacheAgeSeconds: () => ({}) }
  new Gauge({
    name: 'cofferdam_build_info',
    help: 'Always 1: the version of Cofferdam that runs, and the Node.js below it, in its labels.',
    labelNames: ['version', 'nodejs'] as const,
    registers,
  }).set({ version: packageFile.version, nodejs: process.versions.node }, 1)
  const reconciles = new Counter({
    name: 'cofferdam_reconciles_total',
    help: 'Reconciles, by controller and result.',
    labelNames: ['controller', 'result'] as const,
    registers,
  })
  const reconcileSeconds = new Histogram({
    name: 'cofferdam_reconcile_duration_seconds',
    help: 'Time spent on one reconcile, by controller.',
    labelNames: ['controller'] as const,
    buckets: [0.001, 0.01, 0.1, 1, 10, 60],
    registers,
  })
  new Gauge({
    name: 'cofferdam_queue_keys',
    help: 'Objects queued for a reconcile, by controller.',
    labelNames: ['controller'] as const,
    registers,
    collect() {
      this.reset()
      for (const [controller, keys] of Object.entries(live.queueKeys())) this.set({ controller }, keys)
    },
  })
  const leading = new Gauge({
    name: 'cofferdam_leader',
    help: '1 while this process leads, 0 while it is on standby.',
    registers,
  })
  new Gauge({
    name: 'cofferdam_cache_age_seconds',
    help: 'Time since the view of a resource was last known to be good.',
    labelNames: ['resource'] as const,
    registers,
    collect() {
      this.reset()
      for (const [resource, seconds] of Object.entries(live.cacheAgeSeconds())) this.set({ resource }, seconds)
    },
  })
  const refusedEvents = new Counter({
    name: 'cofferdam_events_refused_total',
    help: 'Events that the API server refused, by their reason.',
    labelNames: ['reason'] as const,
    registers,
  })
  return {
    registry,
    leading,
    ceph: createCephCounts(registry),
    guard: createGuardMetrics(registry),
    /** What the operator can do, with its metrics registered. */
    installed: list.map(({ controllers, install }) => ({ controllers, open: install(registry) })),
    showLive(figures: LiveFigures) {
      live = figures
    },
    countRefusedEvent(reason: string) {
      refusedEvents.inc({ reason })
    },
    countOutcome({ controller, result, tookMs }: Outcome) {
      reconciles.inc({ controller, result })
      reconcileSeconds.observe({ controller }, tookMs / 1_000)
    },
  }
}

export type Metrics = ReturnType<typeof createMetrics>
