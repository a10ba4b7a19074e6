import { join } from 'node:path'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { createPlanCommand } from '../plan/plan.ts'
import { runCommand } from './run-command.ts'

/** Folders of what a real Ceph printed: `healthy`, `osd-0-down`, `host-down`. */
export const samples = join(import.meta.dirname, 'ceph-files')

/** A plan from files asks nobody. */
export const noCluster = {
  connect: () => Promise.reject(new Error('a cluster was asked')),
  openCeph: () => {
    throw new Error('Ceph was asked')
  },
}

export function plan(...argv: string[]) {
  const command = createPlanCommand({ clock: realClock, ...noCluster, cpuMs: () => 0 })
  return runCommand(command, 'plan', 'osd-update', '--cpu-seconds', '0', ...argv)
}
