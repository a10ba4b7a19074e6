import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { Ledger } from '../../../ledger/rules/ledger.ts'
import type { Attendance } from '../../../shared/attendance.ts'
import { hostnameOf, nodesByHostname } from '../../../shared/node-hostnames.ts'
import type { Observed } from '../../../shared/observed.ts'
import { type OsdView, parseOsd } from '../../../shared/parse-osd.ts'
import type { StorageView } from '../../../shared/storage-view.ts'
import { machineBudgetNames } from '../domain/budget-name.ts'
import { decideFencing } from '../domain/decide.ts'
import type { FencingDecision } from '../domain/decision.ts'
import { clusterId, fenceLabelKeys } from '../domain/fence-labels.ts'
import { type FencingObjects, parseFencing } from '../domain/parse-fencing.ts'
import { parseFencingSettings } from '../domain/settings.ts'
import type { FencedCluster, FencedOsd, FencingSnapshot } from '../domain/snapshot.ts'
import { storageHolders } from '../domain/storage-holders.ts'
import { recordedEvidence } from './recorded-evidence.ts'

/** Which machines may be fenced, as far as that can be told from what is written down. */
export interface FencingView extends Attendance {
  readonly snapshot: FencingSnapshot
  readonly decision: FencingDecision
}

export interface FencingSeen extends Omit<FencingObjects, 'clusters'> {
  readonly cephClusters: readonly CephCluster[]
  readonly osdDeployments: readonly Deployment[]
  readonly osdPods: readonly Pod[]
  readonly storage: readonly StorageView[]
  readonly ledger: Observed<Ledger>
  readonly attendance: Attendance
}

/** Asks the operator's own decision, on what it wrote down instead of what Ceph says. */
export function viewFencing(seen: FencingSeen): FencingView {
  const { nowMs, attendance, ledger } = seen
  const places = parseFencing({ ...seen, clusters: [] })
  const names = seen.cephClusters.map(({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name }))
  const keys = fenceLabelKeys(names)
  const budgetNames = machineBudgetNames(names)
  const cordoned = new Set(
    seen.nodes.flatMap(({ metadata, spec }) => (spec?.unschedulable === true ? metadata.name : [])),
  )
  const clusters = seen.cephClusters.map((cluster): FencedCluster => {
    const { namespace = '', name, uid = '', deletionTimestamp } = cluster.metadata
    const settings = parseFencingSettings(cluster)
    const osds = osdsIn(namespace, seen)
    const storage = seen.storage.find((view) => view.namespace === namespace && view.name === name)
    const id = clusterId({ namespace, name })
    const budgetName = budgetNames.get(id)
    const budget = seen.budgets.find(
      ({ metadata }) => metadata.namespace === settings.budgetNamespace && metadata.name === budgetName,
    )
    const labelKey = keys.get(id) as string
    return {
      namespace,
      name,
      uid,
      isBeingDeleted: deletionTimestamp !== undefined,
      settings,
      evidence: recordedEvidence({
        nowMs,
        budget,
        labelKey,
        machines: places.machines,
        osds,
        storage,
        attendance,
        cordoned,
      }),
      osds: osds.map((osd) => fencedOsd(osd, storage?.failureDomainType)),
      ...storageHolders(
        ledger,
        { namespace, name, uid },
        { drained: storage && { domains: storage.domains, cordoned } },
      ),
    }
  })
  const snapshot = { ...places, clusters }
  return { snapshot, decision: decideFencing(snapshot), ...attendance }
}

function osdsIn(namespace: string, { osdDeployments, osdPods, nodes }: FencingSeen): OsdView[] {
  const nodeOf = nodesByHostname(nodes.map((node) => ({ name: node.metadata.name, hostname: hostnameOf(node) })))
  const pods = osdPods.filter(({ metadata }) => metadata.namespace === namespace)
  return osdDeployments
    .filter(({ metadata }) => metadata.namespace === namespace)
    .flatMap((deployment) => {
      const parsed = parseOsd(deployment, pods, { nodeOf })
      return 'osd' in parsed ? [parsed.osd] : []
    })
}

function fencedOsd({ id, isReady, nodeName, topology }: OsdView, domainType: string | undefined): FencedOsd {
  return { id, isReady, nodeName, domain: domainType === undefined ? undefined : topology[domainType] }
}
