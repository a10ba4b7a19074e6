import {
  clusterApiMachines,
  type Machine,
  machineDisruptionBudgets,
  olderClusterApiVersion,
  openshiftMachines,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { createOptionalCache } from '@cofferdam/kubernetes/informers/optional-cache.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import { parseMachineBudget } from '../../capabilities/fencing/domain/parse-budget.ts'
import { parseMachine } from '../../capabilities/fencing/domain/parse-machine.ts'
import type { MachineView } from '../../capabilities/fencing/domain/snapshot.ts'
import { buildMachineNotes, type MachineNote } from './machine-note.ts'
import { createSettledWatch, type SettledWatch } from './settled-watch.ts'

/** Follows machines of every API and their budgets. Without Machines it is empty. */
export function createMachineWatch(shared: {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
}): SettledWatch<MachineNote> {
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
  return createSettledWatch({
    clock: shared.clock,
    sources: [...machines, budgets],
    stop: () => Promise.all([...machines, budgets].map((cache) => cache.stop())),
    observe: () =>
      buildMachineNotes(
        machines.flatMap((cache) => [...cache.list()]),
        [...budgets.list()],
      ),
  })
}
