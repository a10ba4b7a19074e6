import { isSameJson } from '../api/json.ts'
import {
  clusterApiMachines,
  type Machine,
  machineDisruptionBudgets,
  olderClusterApiVersion,
  openshiftMachines,
} from '../api/machines.ts'
import { parseMachineBudget } from '../domain/fencing/parse-budget.ts'
import { parseMachine } from '../domain/fencing/parse-machine.ts'
import type { MachineView } from '../domain/fencing/snapshot.ts'
import type { KubeApi } from '../kube/kube-api.ts'
import { createOptionalCache } from '../kube/optional-cache.ts'
import type { ViewChange, WatchView } from '../kube/watch-view.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Random } from '../runtime/random.ts'
import { buildMachineCards, type MachineCard } from './machine-card.ts'

export interface MachineWatch extends Pick<WatchView<MachineCard>, 'synced' | 'list' | 'subscribe'> {
  stop(): Promise<void>
}

/** Changes within this time are looked at together: a fence changes a machine and its budget. */
const settleMs = 500

/** Follows machines of every API and their budgets. Without Machines it is empty. */
export function createMachineWatch(shared: {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
}): MachineWatch {
  const { clock } = shared
  const ofOpenshift = (machine: Machine) => parseMachine(machine, 'openshift')
  const ofClusterApi = (machine: Machine) => parseMachine(machine, 'cluster-api')
  const older = { ...clusterApiMachines, version: olderClusterApiVersion }
  const machines = [
    createOptionalCache<Machine, MachineView>({ ...shared, type: openshiftMachines, project: ofOpenshift }),
    createOptionalCache<Machine, MachineView>({ ...shared, type: clusterApiMachines, project: ofClusterApi }),
    createOptionalCache<Machine, MachineView>({ ...shared, type: older, project: ofClusterApi }),
  ]
  const budgets = createOptionalCache({
    ...shared,
    type: machineDisruptionBudgets,
    project: (budget) => parseMachineBudget(budget).view,
  })
  const all = [...machines, budgets]
  const listeners = new Set<(change: ViewChange<MachineCard>) => void>()
  let cards: ReadonlyMap<string, MachineCard> = new Map()
  let cancel: (() => void) | undefined

  const refresh = () => {
    cancel?.()
    cancel = undefined
    const before = cards
    cards = buildMachineCards(
      machines.flatMap((cache) => [...cache.list()]),
      [...budgets.list()],
    )
    for (const change of changesOf(before, cards)) for (const listener of listeners) listener(change)
  }
  const later = () => {
    cancel ??= clock.after(settleMs, refresh)
  }
  const unsubscribes = [...machines.map((cache) => cache.subscribe(later)), budgets.subscribe(later)]
  return {
    get synced() {
      return all.every(({ synced }) => synced)
    },
    list() {
      if (cancel !== undefined) refresh()
      return cards.values()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async stop() {
      cancel?.()
      for (const unsubscribe of unsubscribes) unsubscribe()
      await Promise.all(all.map((cache) => cache.stop()))
    },
  }
}

function changesOf(
  before: ReadonlyMap<string, MachineCard>,
  after: ReadonlyMap<string, MachineCard>,
): ViewChange<MachineCard>[] {
  const gone = [...before].flatMap(([key, previous]): ViewChange<MachineCard>[] =>
    after.has(key) ? [] : [{ type: 'removed', key, previous }],
  )
  const here = [...after].flatMap(([key, value]): ViewChange<MachineCard>[] => {
    const previous = before.get(key)
    if (previous === undefined) return [{ type: 'added', key, value }]
    return isSameJson(previous, value) ? [] : [{ type: 'changed', key, value, previous }]
  })
  return [...gone, ...here]
}
