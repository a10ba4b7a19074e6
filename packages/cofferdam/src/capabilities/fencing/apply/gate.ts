import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { type MachineDisruptionBudget, machineDisruptionBudgets } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { CephCluster } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { FenceGate } from '../../../ledger/store/fence-gate.ts'
import type { FenceGateState } from '../../../shared/fence-gate-state.ts'
import { known, type Observed, unknown } from '../../../shared/observed.ts'
import { machineBudgetNames } from '../domain/budget-name.ts'
import { parseMachineBudget } from '../domain/parse-budget.ts'
import { parseFencingSettings } from '../domain/settings.ts'

const waitMs = 10_000
const pollMs = 250

/**
 * The way a drain sees fencing.
 *
 * Guarantees: whoever was granted the storage and sees `closed` after that will not see a machine fenced beside it: a budget
 * is opened only by whoever read the ledger after announcing it in the budget's spec, and what is announced is not closed.
 */
export function createFenceGate({
  api,
  clock,
  clusters,
}: {
  readonly api: Pick<KubeApi, 'get'>
  readonly clock: Clock
  readonly clusters: WatchView<CephCluster>
}): FenceGate {
  async function observe(cluster: CephCluster, domain: string, signal: AbortSignal): Promise<Observed<FenceGateState>> {
    const { namespace = '', name } = cluster.metadata
    const { isManaged, budgetNamespace } = parseFencingSettings(cluster)
    if (!isManaged) return known('closed')
    const all = [...clusters.list()].map(({ metadata }) => ({ ...metadata, namespace: metadata.namespace ?? '' }))
    const budgetName = machineBudgetNames(all).get(`${namespace}/${name}`)
    if (budgetName === undefined) return known('closed')
    // Where there are no Machines it is beside its cluster.
    const places = [budgetNamespace, parseFencingSettings(cluster, false).budgetNamespace]
    const states: FenceGateState[] = []
    for (const place of new Set(places)) {
      try {
        const key = { namespace: place, name: budgetName }
        states.push(gateOf(await api.get(machineDisruptionBudgets, key, { signal }), domain))
      } catch (error) {
        if (hasReason(error, 'NotFound')) continue
        signal.throwIfAborted()
        return unknown(error instanceof Error ? error.message : String(error))
      }
    }
    return known(
      states.find((state) => state === 'fence under way') ?? states.find((state) => state === 'open') ?? 'closed',
    )
  }
  return {
    observe,
    async whenClosed(cluster, domain, signal) {
      const untilMs = clock.now() + waitMs
      for (;;) {
        const seen = await observe(cluster, domain, signal)
        if (!seen.known || seen.value !== 'open' || clock.now() >= untilMs) return seen
        await sleep(clock, pollMs, signal)
      }
    },
  }
}

export function gateOf(budget: MachineDisruptionBudget, domain: string): FenceGateState {
  const { view } = parseMachineBudget(budget)
  const isElsewhere = (machine: string) => {
    const scope = view.fences.get(machine)?.scope ?? ''
    return scope === '' || scope !== domain
  }
  const taken = [...new Set([...view.disrupted.keys(), ...view.fences.keys()])]
  if (!view.isRecordReadable || taken.some(isElsewhere)) return 'fence under way'
  return view.maxUnavailable === 0 && view.status.disruptionsAllowed <= 0 ? 'closed' : 'open'
}
