import { realRandom } from '../runtime/random.ts'
import { realClock } from '../runtime/real-clock.ts'
import type { CliCommand } from './command.ts'
import { connect } from './connect.ts'
import { createDemoCommand } from './demo.ts'
import { createDrainCommand } from './drain.ts'
import { createExplainCommand } from './explain.ts'
import { createLockCommand } from './lock.ts'
import { operatorCommand } from './operator.ts'
import { localRequester } from './requester.ts'
import { createStatusCommand } from './status.ts'
import { createUncordonCommand } from './uncordon.ts'
import { createUnlockCommand } from './unlock.ts'

/** Every command, in the order in which help lists them. */
export function createCommands(places: Parameters<typeof createDemoCommand>[0]): CliCommand[] {
  const ports = { connect, clock: realClock, random: realRandom, requester: () => localRequester(process.env) }
  return [
    createDemoCommand(places),
    createDrainCommand(ports),
    createExplainCommand(ports),
    createLockCommand(ports),
    operatorCommand,
    createStatusCommand(ports),
    createUncordonCommand(ports),
    createUnlockCommand(ports),
  ]
}
