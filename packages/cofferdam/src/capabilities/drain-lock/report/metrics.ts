import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

/** Read when they are asked for. */
export interface LiveDrainFigures {
  /** Of every request that there is its phase, and the tool that it was made for; empty where somebody asked for it. */
  disruptions(): readonly { readonly phase: string; readonly tool: string }[]
  /** The state of every key that is held. */
  ledgerEntries(): readonly string[]
}

const tools = ['kured', 'machine-config', 'machine-deletion', 'node-maintenance']

/** Everybody may write the label of a request: what is no tool of ours must not become a series of its own. */
function toolLabel(tool: string): string {
  return tool === '' || tools.includes(tool) ? tool : 'other'
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
    help: 'NodeDisruptions, by phase and by the tool that they were made for; empty where a person asked for them.',
    labelNames: ['phase', 'tool'] as const,
    registers,
    collect() {
      this.reset()
      for (const { phase, tool } of live.disruptions()) this.inc({ phase, tool: toolLabel(tool) })
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
