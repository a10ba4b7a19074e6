import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import { conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { ViewChange, WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { RookPresence } from '../../../ceph/reader/rook-presence.ts'
import type { AppLockPolicy } from '../../../ledger/rules/app-lock.ts'
import { appLocksInForce } from '../../../ledger/rules/app-locks.ts'
import { emptyLedger, type Ledger } from '../../../ledger/rules/ledger.ts'
import { observeLedger } from '../../../ledger/store/storage-ledger.ts'
import { decideOwnership } from '../../../safety/ceph-ownership.ts'
import { appLockAnnotation } from '../../../shared/app-lock-annotation.ts'
import { type BudgetView, parseBudgetView } from '../../../shared/budget-view.ts'
import type { DisruptionLedger } from '../../../shared/kinds/disruption-ledger.ts'
import { known, type Observed } from '../../../shared/observed.ts'
import { decideRestartWay, type RestartBudget, type RestartWay } from '../domain/restart-way.ts'

export interface RestartWayPorts {
  readonly api: Pick<KubeApi, 'list'>
  readonly clock: Clock
  /** Indexed by `namespace`. */
  readonly budgets: WatchView<BudgetView>
  readonly appLocks: AppLockPolicy
  readonly rook: RookPresence
  /** Where requests hold budgets; without it nobody does. */
  readonly ledgers?: WatchView<DisruptionLedger>
}

type Budget = RestartBudget & Pick<BudgetView, 'selector'>

/** The budgets around the OSDs of a cluster at one time. */
export interface RestartSurroundings {
  readonly nowMs: number
  readonly budgets: readonly Budget[]
  readonly ledger: Observed<Ledger>
}

/** How pods of OSDs may be removed, by what is known of the budgets around them. */
export class RestartWays {
  readonly #ports: RestartWayPorts

  constructor(ports: RestartWayPorts) {
    this.#ports = ports
  }

  observe(cluster: CephCluster): RestartSurroundings {
    const { namespace = '' } = cluster.metadata
    return this.#around(cluster, this.#ports.budgets.byIndex('namespace', namespace))
  }

  /** As the API server has them now: what is passed over must not come from a copy that is behind. */
  async read(cluster: CephCluster, signal: AbortSignal): Promise<RestartSurroundings> {
    const { namespace = '' } = cluster.metadata
    const { items } = await this.#ports.api.list(podDisruptionBudgets, { namespace, signal })
    return this.#around(cluster, items.map(parseBudgetView))
  }

  /**
   * Whether pods of OSDs may now be removed that could not before, or the other way round. Budgets of our own open and close with
   * what an update itself does: of them only the lock of an owner is a relevant change, or every refusal would wake whoever was refused.
   */
  isRelevant({ metadata }: CephCluster, change: ViewChange<BudgetView>): boolean {
    const now = change.type === 'removed' ? change.previous : change.value
    const isOfCluster = now.isExchanged && now.ownerUid === metadata.uid
    const before = change.type === 'changed' ? change.previous : undefined
    if (change.type === 'resynced') return false
    if (before === undefined) return !isOfCluster
    const lockOf = ({ annotations }: BudgetView) => annotations[appLockAnnotation] ?? ''
    if (lockOf(before) !== lockOf(now)) return true
    const roomOf = ({ isCounted, disruptionsAllowed }: BudgetView) => isCounted && disruptionsAllowed > 0
    return !isOfCluster && (roomOf(before) !== roomOf(now) || !isSameJson(before.selector, now.selector))
  }

  #around(cluster: CephCluster, seen: readonly BudgetView[]): RestartSurroundings {
    const { clock, appLocks, rook, ledgers } = this.#ports
    const nowMs = clock.now()
    const ledger = ledgerOf(ledgers)
    const { namespace: ofCluster = '' } = cluster.metadata
    const records = ledger.known ? ledger.value.appLocks : []
    const locks = appLocksInForce({ namespace: ofCluster, budgets: seen, records, policy: appLocks, nowMs })
    // Only whoever can hold the storage may pass what is closed because of that.
    const isManaged =
      ledgers !== undefined && decideOwnership({ cluster, ...rook.surroundings(cluster) }).budgets === 'manage'
    const budgets = seen.map(({ namespace, name, uid, selector, ...facts }) => ({
      namespace,
      name,
      uid,
      selector,
      isOurs: isManaged && facts.isExchanged && facts.ownerUid === cluster.metadata.uid,
      appLock: locks.get(name),
      room: facts.isCounted ? facts.disruptionsAllowed : 0,
    }))
    return { nowMs, budgets, ledger }
  }
}

function ledgerOf(ledgers: WatchView<DisruptionLedger> | undefined): Observed<Ledger> {
  if (ledgers === undefined) return known(emptyLedger)
  return observeLedger(ledgers)
}

/** The most careful way among those of all pods of one OSD. */
export function wayOfPods({ nowMs, budgets, ledger }: RestartSurroundings, pods: readonly Pod[]): RestartWay {
  const ways = pods.map((pod) => {
    const { namespace = '', name, uid = '', labels = {} } = pod.metadata
    const { phase } = pod.status ?? {}
    return decideRestartWay({
      nowMs,
      pod: {
        namespace,
        name,
        uid,
        nodeName: pod.spec.nodeName ?? '',
        isLeaving: false,
        isCounted: phase !== 'Pending' && phase !== 'Succeeded' && phase !== 'Failed',
        isReady: conditionOf(pod, 'Ready')?.status === 'True',
      },
      budgets: budgets.filter(({ selector }) => selector !== undefined && isSelected(selector, labels)),
      ledger,
    })
  })
  const byCare = (['wait', 'evict', 'past-own-budgets'] as const).map((way) => ways.find((one) => one.way === way))
  return byCare.find((way) => way !== undefined) ?? { way: 'evict' }
}
