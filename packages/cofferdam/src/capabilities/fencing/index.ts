import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { Capability, OpenCapability } from '../capability.ts'
import type { CephCapabilityPorts } from '../ports.ts'
import { createFenceGate } from './apply/gate.ts'
import { createFencing, fencingPermissions } from './controller/controller.ts'
import { parseFencingSettings } from './domain/settings.ts'
import { evidenceCalmMs } from './observe/evidence.ts'
import { openFencingViews } from './observe/views.ts'
import { createFencingMetrics } from './report/metrics.ts'

export const fencing = {
  name: 'fencing',
  summary: 'Lets automatic remediation fence one storage machine at a time, and only on clean data.',
  controllers: [{ name: 'fencing', rights: fencingPermissions }],
  install(registry) {
    const metrics = createFencingMetrics(registry)
    return (ports) => open(ports, metrics)
  },
} as const satisfies Capability<CephCapabilityPorts>

function open(ports: CephCapabilityPorts, metrics: ReturnType<typeof createFencingMetrics>): OpenCapability {
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
          reports: { events: events.scoped(), show: (decision, seen) => metrics.show(decision, seen) },
        }),
    },
    answers: ports.runs('fencing')
      ? {
          fenceGate: () => createFenceGate({ api, clock, clusters: cephViews.clusters() }),
          cephInterest: () => ({
            calmMs: evidenceCalmMs,
            isLookWanted: (cluster: CephCluster) => parseFencingSettings(cluster).isManaged,
          }),
        }
      : {},
  }
}
