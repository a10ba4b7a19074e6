import type { PlantedFault } from './planted-fault.ts'

export const decisions: readonly PlantedFault[] = [
  {
    file: 'capabilities/drain-lock/domain/ceph-last.ts',
    was: "pod.cephDaemon === 'mon'",
    becomes: 'false',
    harm: 'a mon leaves a node that an application keeps closed, and the drain of every other node with a mon waits for it',
  },
]
