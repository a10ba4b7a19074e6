import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** Read when they are asked for. */
export interface LiveDrainFigures {
  /** The phase of every request that there is. */
  disruptions(): readonly string[]
  /** The state of every key that is held. */
  ledgerEntries(): readonly string[]
}

/** How disruptions of nodes go. */
export function createDrainMetrics(registry: Registry) {
  const registers = [registry]
  let live: LiveDrainFigures = { disruptions: () => [], ledgerEntries: () => [] }
  const tally = (gauge: Gauge, label: string, values: readonly string[]) => {
    gauge.reset()
    for (const value of values) gauge.inc({ [label]: value })
  }
  new Gauge({
    name: 'cofferdam_disruptions',
    help: 'NodeDisruptions, by phase.',
    labelNames: ['phase'] as const,
    registers,
    collect() {
      tally(this, 'phase', live.disruptions())
    },
  })
  new Gauge({
    name: 'cofferdam_ledger_entries',
    help: 'Holds in the ledger, by state.',
    labelNames: ['state'] as const,
    registers,
    collect() {
      tally(this, 'state', live.ledgerEntries())
    },
  })
  const waits = new Histogram({
    name: 'cofferdam_disruption_waiting_seconds',
    help: 'Time from a request until its node was allowed to be drained.',
    buckets: [1, 10, 60, 300, 900, 1_800, 3_600, 14_400, 86_400],
    registers,
  })
  const evictions = new Counter({
    name: 'cofferdam_disruption_evictions_total',
    help: 'Evictions that were requested, by result.',
    labelNames: ['result'] as const,
    registers,
  })
  return {
    showLive(figures: LiveDrainFigures) {
      live = figures
    },
    observeWait: (seconds: number) => waits.observe(Math.max(0, seconds)),
    countEviction: (result: string) => evictions.inc({ result }),
  }
}
