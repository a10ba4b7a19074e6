import type { CliCommand, CommandGroup } from '../command.ts'
import { createPlanOsdUpdateCommand, type PlanPorts } from './plan-osd-update.ts'

export function createPlanCommand(ports: PlanPorts): CommandGroup {
  return {
    name: 'plan',
    summary: 'say what would be done, in which order and why',
    description: 'Says what would be done, in which order and why. Changes nothing.',
    commands: [createPlanOsdUpdateCommand(ports) as CliCommand],
  }
}
