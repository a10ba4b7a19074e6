import { createLog } from '../observability/log.ts'
import { realRandom } from '../runtime/random.ts'
import { realClock } from '../runtime/real-clock.ts'
import { openCephLink } from './ceph-link.ts'
import type { CliCommand, CommandGroup } from './command.ts'
import { connect } from './connect.ts'
import { createDemoCommand } from './demo.ts'
import { createDrainCommand } from './drain.ts'
import { createExplainCommand } from './explain.ts'
import { createLockCommand } from './lock.ts'
import { operatorCommand } from './operator.ts'
import { createPlanCommand } from './plan.ts'
import { localRequester } from './requester.ts'
import { createStatusCommand } from './status.ts'
import { createUncordonCommand } from './uncordon.ts'
import { createUnlockCommand } from './unlock.ts'

/** Every command, in the order in which help lists them. */
export function createCommands(places: Parameters<typeof createDemoCommand>[0]): (CliCommand | CommandGroup)[] {
  const ports = { connect, clock: realClock, random: realRandom, requester: () => localRequester(process.env) }
  return [
    createDemoCommand(places),
    createDrainCommand(ports),
    createExplainCommand(ports),
    createLockCommand(ports),
    operatorCommand,
    createPlanCommand({ connect, openCeph, cpuMs }),
    createStatusCommand(ports),
    createUncordonCommand(ports),
    createUnlockCommand(ports),
  ]
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
