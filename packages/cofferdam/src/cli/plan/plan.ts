import type { CliCommand, CommandGroup } from '../command.ts'
import { createPlanOsdUpdateCommand, type PlanPorts } from './plan-osd-update.ts'

export function createPlanCommand(ports: PlanPorts): CommandGroup {
  return {
    name: 'plan',
    summary: 'show what would be done, in which order and why',
    description: 'Shows what would be done, in which order and why. Changes nothing.',
    commands: [createPlanOsdUpdateCommand(ports) as CliCommand],
  }
}
