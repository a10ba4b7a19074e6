import { deleteOutsideMachine, type OutsideMachineOptions } from '@cofferdam/simulator/world/tools/outside-machine.ts'
import { type FencingFixture, openFencingFixture } from './fencing-fixture.ts'

export interface OutsideCluster extends FencingFixture {
  /** Machines behind these nodes are deleted in the same moment, where nothing of it is seen. */
  deleteOutside(nodeNames: readonly string[], options?: OutsideMachineOptions): void
  isThere(nodeName: string): boolean
}

/** A Ceph cluster whose Machines are kept in another cluster; their disks go with them. */
export async function openOutsideCluster(): Promise<OutsideCluster> {
  const fixture = await openFencingFixture({
    storage: 5,
    withoutMachines: true,
    remediator: 'none',
    maintenanceMinutes: 10,
  })
  const { api, clock, oracle, world } = fixture
  const powerOff = (node: string) => {
    oracle.cut(node)
    world.kubelet.powerOff(node)
  }
  return {
    ...fixture,
    deleteOutside(nodeNames, options) {
      for (const name of nodeNames) void deleteOutsideMachine({ api, clock, kubelet: { powerOff } }, name, options)
    },
    isThere: (nodeName) => fixture.nodeNames().includes(nodeName),
  }
}
