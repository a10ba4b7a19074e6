import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import { realRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { realClock } from '@cofferdam/kubernetes/runtime/real-clock.ts'
import { createLog } from '../operator/log.ts'
import { createAdoptCommand, createReleaseCommand } from './adopt/hand-over-command.ts'
import type { CliCommand, CommandGroup } from './command.ts'
import { createCompletionCommand } from './completion/completion.ts'
import { connect } from './connect.ts'
import { createDashboardCommand } from './dashboard/dashboard.ts'
import { createDemoCommand } from './demo/demo.ts'
import { createDoctorCommand } from './doctor/doctor.ts'
import { createDrainCommand } from './drain/drain.ts'
import { localRequester } from './drain/requester.ts'
import { createUncordonCommand } from './drain/uncordon.ts'
import { createExplainCommand } from './explain/explain.ts'
import { createGetCommand } from './get/get.ts'
import { createLockCommand } from './lock/lock.ts'
import { createUnlockCommand } from './lock/unlock.ts'
import { openCephLink } from './operator/ceph-link.ts'
import { createOperatorCommand } from './operator/operator.ts'
import { createPlanCommand } from './plan/plan.ts'
import { createSnapshotCommand } from './snapshot/snapshot.ts'
import { createStatusCommand } from './status/status.ts'
import { createSupportBundleCommand } from './support-bundle/support-bundle.ts'
import { createUninstallCommand } from './uninstall/uninstall.ts'
import { createVersionCommand } from './version/version.ts'

/** Every command, in the order in which help lists them. */
export function createCommands(
  places: Parameters<typeof createDemoCommand>[0],
  clock: Clock = realClock,
): (CliCommand | CommandGroup)[] {
  const ports = { connect, clock, random: realRandom, requester: () => localRequester(process.env) }
  const commands: (CliCommand | CommandGroup)[] = [
    createAdoptCommand(ports),
    createCompletionCommand(),
    createDashboardCommand({ ...ports, pageDirectory: places.pageDirectory }),
    createDemoCommand({ ...places, commands: () => commands }),
    createDoctorCommand(ports),
    createDrainCommand(ports),
    createExplainCommand(ports),
    createGetCommand(ports),
    createLockCommand(ports),
    createOperatorCommand({ pageDirectory: places.pageDirectory }),
    createPlanCommand({ ...ports, openCeph, cpuMs }),
    createReleaseCommand(ports),
    createSnapshotCommand(ports),
    createStatusCommand(ports),
    createSupportBundleCommand(ports),
    createUncordonCommand(ports),
    createUninstallCommand(ports),
    createUnlockCommand(ports),
    createVersionCommand(ports),
  ]
  return commands
}

const openCeph: Parameters<typeof createPlanCommand>[0]['openCeph'] = ({ api, connection }, flags) => {
  if (connection === undefined) throw new Error('a cluster without an address has no pods to run commands in')
  const ports = { environment: process.env, clock: realClock, random: realRandom, log: createLog('warn') }
  return openCephLink({ flags, api, connection, ...ports })
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
