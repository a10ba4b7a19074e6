import {
  clusterApiHealthChecks,
  clusterApiMachines,
  type Machine,
  type MachineHealthCheck,
  type MachineSet,
  openshiftHealthChecks,
  openshiftMachineNamespace,
  openshiftMachineSets,
  openshiftMachines,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'

export type MachineApi = 'openshift' | 'cluster-api'

/** One of the two APIs that have machines, and the names in which they differ. */
export interface MachineKinds {
  readonly api: MachineApi
  readonly machines: ResourceType<Machine>
  readonly machineSets: ResourceType<MachineSet>
  readonly healthChecks: ResourceType<MachineHealthCheck>
  /** Where machines are kept unless somebody says otherwise. */
  readonly namespace: string
  readonly finalizer: string
  /** On a Machine: the name of its set. */
  readonly setLabel: string
  /** On a Node: the Machine behind it. */
  readonly machineAnnotation: string
  /** On a Machine that is to go first when its set shrinks. */
  readonly deleteFirst: string
}

const openshift: MachineKinds = {
  api: 'openshift',
  machines: openshiftMachines,
  machineSets: openshiftMachineSets,
  healthChecks: openshiftHealthChecks,
  namespace: openshiftMachineNamespace,
  finalizer: 'machine.machine.openshift.io',
  setLabel: 'machine.openshift.io/cluster-api-machineset',
  machineAnnotation: 'machine.openshift.io/machine',
  deleteFirst: 'machine.openshift.io/delete-machine',
}

/** `version`: of Cluster API, where only an older one is served. */
export function machineKinds(api: MachineApi, version = clusterApiMachines.version): MachineKinds {
  if (api === 'openshift') return openshift
  return {
    api,
    machines: { ...clusterApiMachines, version },
    machineSets: { ...openshiftMachineSets, group: clusterApiMachines.group, version },
    healthChecks: { ...clusterApiHealthChecks, version },
    namespace: 'default',
    finalizer: 'machine.cluster.x-k8s.io',
    setLabel: 'cluster.x-k8s.io/set-name',
    machineAnnotation: 'cluster.x-k8s.io/machine',
    deleteFirst: 'cluster.x-k8s.io/delete-machine',
  }
}
