import { machineConfigPools } from '@cofferdam/kubernetes/api/kinds/machine-config.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import type { Informers } from '@cofferdam/kubernetes/informers/informers.ts'
import type { WatchView } from '@cofferdam/kubernetes/informers/watch-view.ts'
import type { NodeDisruption } from '../../shared/kinds/node-disruption.ts'
import { known } from '../../shared/observed.ts'
import { parseConfiguredNode } from './domain/parse-node.ts'
import { parsePool } from './domain/parse-pool.ts'
import type { ConfiguredNode, MachineConfigSnapshot, PoolView } from './domain/snapshot.ts'

export interface MachineConfigViews {
  readonly pools: WatchView<PoolView>
  readonly nodes: WatchView<ConfiguredNode>
  readonly requests: WatchView<NodeDisruption>
}

export function openMachineConfigViews(informers: Informers, requests: WatchView<NodeDisruption>): MachineConfigViews {
  return {
    pools: informers.openOptional('machineconfigpools', { type: machineConfigPools, project: parsePool }),
    nodes: informers.open('nodes/machine-config', { type: nodes, project: parseConfiguredNode }),
    requests,
  }
}

export function observeMachineConfig(views: MachineConfigViews, nowMs: number): MachineConfigSnapshot {
  return {
    pools: [...views.pools.list()],
    nodes: [...views.nodes.list()],
    requests: known([...views.requests.list()]),
    nowMs,
  }
}
