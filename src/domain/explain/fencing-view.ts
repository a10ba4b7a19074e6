import type { Deployment } from '../../api/apps.ts'
import type { Pod } from '../../api/core.ts'
import type { CephCluster } from '../../api/rook.ts'
import { parseOsd } from '../ceph-drain/cluster-objects.ts'
import type { OsdView } from '../ceph-drain/snapshot.ts'
import { storageKey } from '../ceph-drain/storage-arbiter.ts'
import type { Ledger } from '../drain-lock/ledger.ts'
import { machineBudgetNames } from '../fencing/budget-name.ts'
import { decideFencing } from '../fencing/decide.ts'
import type { FencingDecision } from '../fencing/decision.ts'
import { clusterId, fenceLabelKeys } from '../fencing/fence-labels.ts'
import { type FencingObjects, parseFencing } from '../fencing/parse-fencing.ts'
import { parseFencingSettings } from '../fencing/settings.ts'
import type { FencedCluster, FencedOsd, FencingSnapshot, StorageHolder } from '../fencing/snapshot.ts'
import { known, type Observed } from '../observed.ts'
import { recordedEvidence } from './recorded-evidence.ts'
import type { Attendance, StorageView } from './storage-view.ts'

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
      evidence: recordedEvidence({ nowMs, budget, labelKey, machines: places.machines, osds, storage, attendance }),
      osds: osds.map((osd) => fencedOsd(osd, storage?.failureDomainType)),
      heldBy: ledger.known ? known(holdersOf(ledger.value, { namespace, name })) : ledger,
    }
  })
  const snapshot = { ...places, clusters }
  return { snapshot, decision: decideFencing(snapshot), ...attendance }
}

function osdsIn(namespace: string, { osdDeployments, osdPods }: FencingSeen): OsdView[] {
  const pods = osdPods.filter(({ metadata }) => metadata.namespace === namespace)
  return osdDeployments
    .filter(({ metadata }) => metadata.namespace === namespace)
    .flatMap((deployment) => {
      const parsed = parseOsd(deployment, pods)
      return 'osd' in parsed ? [parsed.osd] : []
    })
}

function fencedOsd({ id, isReady, nodeName, topology }: OsdView, domainType: string | undefined): FencedOsd {
  return { id, isReady, nodeName, domain: domainType === undefined ? undefined : topology[domainType] }
}

/** Fencing does not stand in its own way. */
function holdersOf(
  { entries }: Ledger,
  cluster: { readonly namespace: string; readonly name: string },
): StorageHolder[] {
  return entries
    .filter(({ key, requestId }) => key === storageKey(cluster) && !requestId.startsWith('fencing/'))
    .map(({ holder, requestId, scope }) => ({ holder, requestId, scope }))
}
