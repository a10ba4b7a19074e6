import { randomSuffix } from '@cofferdam/kubernetes/runtime/random.ts'
import { observeStatus } from '../../ceph/observe-status.ts'
import type { AppLockPolicy } from '../../ledger/rules/app-lock.ts'
import { known, unknown } from '../../shared/observed.ts'
import type { Capability, OpenCapability } from '../capability.ts'
import type { CephCapabilityPorts } from '../ports.ts'
import { shown } from '../shown.ts'
import { createOsdUpdate, osdUpdatePermissions } from './controller/controller.ts'
import { createOsdGrowth, osdGrowthPermissions } from './controller/growth.ts'
import { observeLostOsds } from './observe/observe-lost-osds.ts'
import { observeOsdUuids } from './observe/observe-osd-uuids.ts'
import { readUpdates, type UpdateReadPorts } from './observe/read-updates.ts'
import { openGrowthViews, openUpdateViews, type UpdateViewPorts } from './observe/views.ts'
import { createOsdUpdateMetrics } from './report/metrics.ts'
import { osdUpdateTraces } from './traces.ts'
import { updateStatusLines } from './view/status-text.ts'
import { isUpdateNotable, summarizeUpdate } from './view/summarize-update.ts'

interface Ports extends CephCapabilityPorts, Pick<UpdateViewPorts, 'views'> {
  readonly appLocks: AppLockPolicy
}

export const osdUpdate = {
  name: 'osd-update',
  summary: 'Updates, restarts and adds OSDs, as many at a time as the placement groups allow.',
  controllers: [
    { name: 'osd-update', rights: osdUpdatePermissions },
    { name: 'osd-growth', rights: osdGrowthPermissions },
  ],
  traces: osdUpdateTraces,
  shows: [
    shown({
      field: 'osdUpdates',
      title: 'Updates',
      read: (ports: UpdateReadPorts) => readUpdates(ports),
      summarize: (updates) => (updates.length === 0 ? undefined : updates.map(summarizeUpdate)),
      lines: (summaries, { now, paint }) =>
        summaries
          .filter((summary) => isUpdateNotable(summary, Date.parse(now)))
          .map((summary) => updateStatusLines(summary, now, paint)),
    }),
  ],
  install(registry) {
    const metrics = createOsdUpdateMetrics(registry)
    return (ports) => open(ports, metrics)
  },
} as const satisfies Capability<Ports, UpdateReadPorts>

const timeoutMs = 15_000
const nonceLength = 24
const healthy: readonly string[] = ['HEALTH_OK', 'HEALTH_WARN']

function open(ports: Ports, metrics: ReturnType<typeof createOsdUpdateMetrics>): OpenCapability {
  const { api, clock, random, ceph, cephViews, cephCounts, trust, appLocks } = ports
  const reports = () => ({ ...cephCounts, events: ports.events.scoped() })
  return {
    controllers: {
      'osd-update'() {
        const ledger = ports.ledger()
        return createOsdUpdate({
          api,
          clock,
          ceph,
          trust,
          appLocks,
          views: openUpdateViews(ports),
          reports: { ...reports(), update: metrics },
          rook: cephViews.rook(),
          observeLostOsds: (commands, osds, signal) => observeLostOsds(commands, osds, { timeoutMs, signal }),
          async observeHealth(commands, signal) {
            const status = await observeStatus(commands, { timeoutMs, signal })
            return status.known ? known(healthy.includes(status.value.health)) : status
          },
          ...(ledger === undefined ? {} : { ledger }),
        })
      },
      'osd-growth': () =>
        createOsdGrowth({
          api,
          trust,
          views: openGrowthViews(ports),
          reports: { ...reports(), growth: metrics },
          rook: cephViews.rook(),
          newNonce: () => randomSuffix(random.stream('osd-growth nonces'), nonceLength),
          observeOsdUuids: async (cluster, signal) => {
            const commands = ceph.of(cluster)
            if (commands === undefined) return unknown('no way to reach this Ceph is known')
            return observeOsdUuids(commands, { timeoutMs, signal })
          },
        }),
    },
  }
}
