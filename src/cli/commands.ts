import { realClock } from '../runtime/real-clock.ts'
import type { CliCommand } from './command.ts'
import { connect } from './connect.ts'
import { createDemoCommand } from './demo.ts'
import { createExplainCommand } from './explain.ts'
import { operatorCommand } from './operator.ts'
import { createStatusCommand } from './status.ts'

/** Every command, in the order in which help lists them. */
export function createCommands(places: Parameters<typeof createDemoCommand>[0]): CliCommand[] {
  return [
    createDemoCommand(places),
    createExplainCommand({ connect, clock: realClock }),
    operatorCommand,
    createStatusCommand({ connect, clock: realClock }),
  ]
}
