import type { DrainLockSettings } from '../../ledger/rules/drain-lock-settings.ts'
import type { Capability, OpenCapability } from '../capability.ts'
import type { CephCapabilityPorts, ReadPorts } from '../ports.ts'
import { shown } from '../shown.ts'
import { createFenceGate } from './apply/gate.ts'
import { createFencing, fencingPermissions } from './controller/controller.ts'
import { evidenceCalmMs } from './observe/evidence.ts'
import { type FencingQuestion, readFencing } from './observe/read-fencing.ts'
import { openFencingViews } from './observe/views.ts'
import { createFencingMetrics } from './report/metrics.ts'
import { fencingTraces } from './traces.ts'
import { answerFencing } from './view/fencing-answer.ts'
import { fencingLines, fencingSummaryLines } from './view/fencing-text.ts'
import { summarizeFencing } from './view/summarize-fencing.ts'

interface FencingCapabilityPorts extends CephCapabilityPorts {
  readonly drainLock: Pick<DrainLockSettings, 'plannedOutageMs'>
}

interface FencingReadPorts extends ReadPorts, FencingQuestion {}

export const fencing = {
  name: 'fencing',
  summary:
    'Lets automatic remediation fence one storage machine at a time, only on clean data, and no node that is rebooted on plan.',
  controllers: [{ name: 'fencing', rights: fencingPermissions }],
  traces: fencingTraces,
  shows: [
    shown({
      field: 'fencing',
      title: 'Fencing',
      read: (ports: FencingReadPorts) => readFencing(ports, ports),
      summarize: summarizeFencing,
      lines: (summary, { now }) => [fencingSummaryLines(summary, now)],
      node: { answer: answerFencing, lines: (answer, { now }) => fencingLines(answer, now) },
    }),
  ],
  install(registry) {
    const metrics = createFencingMetrics(registry)
    return (ports) => open(ports, metrics)
  },
} as const satisfies Capability<FencingCapabilityPorts, FencingReadPorts>

function open(ports: FencingCapabilityPorts, metrics: ReturnType<typeof createFencingMetrics>): OpenCapability {
  const { api, clock, events, cephViews, ask, ledger } = ports
  return {
    controllers: {
      fencing: () =>
        createFencing({
          api,
          clock,
          views: openFencingViews(ports),
          decisions: ask.cephDecisions(),
          ledger: ledger(),
          plannedOutageMs: ports.drainLock.plannedOutageMs,
          reports: { events: events.scoped(), show: (decision, seen) => metrics.show(decision, seen) },
        }),
    },
    answers: ports.runs('fencing')
      ? {
          fenceGate: () => createFenceGate({ api, clock, clusters: cephViews.clusters() }),
          cephInterest: () => ({ calmMs: evidenceCalmMs }),
        }
      : {},
  }
}
