import type { Node } from '@cofferdam/kubernetes/api/core.ts'
import {
  clusterApiMachines,
  type Machine,
  olderClusterApiVersion,
  openshiftMachines,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { Informers } from '@cofferdam/kubernetes/informers/informers.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { Log } from '@cofferdam/kubernetes/runtime/log.ts'
import type { NodeDisruption } from '../../shared/kinds/node-disruption.ts'
import { known, type Observed, unknown } from '../../shared/observed.ts'
import { eitherVersion, type KindView, openKind } from '../kind-view.ts'
import { parseMachine, parseMachineNode } from './domain/parse-machine.ts'
import type { MachineDeletionSnapshot, MachineNode, MachineView } from './domain/snapshot.ts'

/** As kept of a Machine; one that cannot be read is there with its name. */
export interface SeenMachine {
  readonly name: string
  readonly machine?: MachineView
}

export interface MachineDeletionViews {
  readonly openshift: KindView<Machine, SeenMachine>
  readonly clusterApi: KindView<Machine, SeenMachine>
  readonly nodes: WatchView<MachineNode>
  readonly disruptions: WatchView<NodeDisruption>
}

export function openMachineDeletionViews(ports: {
  readonly informers: Informers
  readonly log: Log
  readonly disruptions: WatchView<NodeDisruption>
}): MachineDeletionViews {
  const { informers, disruptions } = ports
  const kind = { ...ports, reader: 'machine-deletion' }
  const clusterApi = { project: projectAs('cluster-api') }
  return {
    openshift: openKind(kind, openshiftMachines, { project: projectAs('openshift') }),
    clusterApi: eitherVersion(
      (onAbsent) => openKind(kind, clusterApiMachines, { ...clusterApi, onAbsent }),
      () => openKind(kind, { ...clusterApiMachines, version: olderClusterApiVersion }, clusterApi),
    ),
    nodes: informers.open<Node, MachineNode>('nodes/machine-deletion', { type: nodes, project: parseMachineNode }),
    disruptions,
  }
}

function projectAs(api: MachineView['api']): (machine: Machine) => SeenMachine {
  return (object) => {
    const { namespace = '', name } = object.metadata
    const machine = parseMachine(object, api)
    return { name: `${namespace}/${name}`, ...(machine === undefined ? {} : { machine }) }
  }
}

export function observeMachineDeletion(views: MachineDeletionViews, nowMs: number): MachineDeletionSnapshot {
  const machines = [views.openshift, views.clusterApi].map((view) => listed(view))
  const unread = machines.find((each) => !each.known)
  return {
    machines:
      unread ??
      known(machines.flatMap((each) => (each.known ? each.value : [])).flatMap(({ machine }) => machine ?? [])),
    nodes: listed(views.nodes),
    requests: listed(views.disruptions),
    nowMs,
  }
}

/** `namespace/name` of the Machines that are left alone because they cannot be read. */
export function unreadableMachines({ openshift, clusterApi }: MachineDeletionViews): readonly string[] {
  return [openshift, clusterApi]
    .flatMap((view) => [...view.list()])
    .filter(({ machine }) => machine === undefined)
    .map(({ name }) => name)
}

function listed<V>(view: WatchView<V>): Observed<readonly V[]> {
  return view.synced ? known([...view.list()]) : unknown('it has not been read yet')
}
