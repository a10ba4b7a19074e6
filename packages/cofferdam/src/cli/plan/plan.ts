import type { CliCommand, CommandGroup } from '../command.ts'
import { createPlanDrainCommand, type PlanDrainPorts } from './plan-drain.ts'
import { createPlanOsdUpdateCommand, type PlanPorts } from './plan-osd-update.ts'

export function createPlanCommand(ports: PlanPorts & PlanDrainPorts): CommandGroup {
  return {
    name: 'plan',
    summary: 'show what would be done, in which order and why',
    description: 'Shows what would be done, in which order and why. Changes nothing.',
    commands: [createPlanDrainCommand(ports) as CliCommand, createPlanOsdUpdateCommand(ports) as CliCommand],
  }
}
