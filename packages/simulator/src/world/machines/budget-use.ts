import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import {
  type Machine,
  type MachineDisruptionBudget,
  type MachineDisruptionBudgetStatus,
  machineDisruptionBudgets,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { isSelected } from '@cofferdam/kubernetes/api/label-selector.ts'
import { keyOf, keyText } from '@cofferdam/kubernetes/api/resource-type.ts'
import { sleep, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { ActorTools } from '../actor.ts'

const attempts = 20
const pauseMs = 500

export type BudgetAnswer = { readonly isAllowed: true } | { readonly isAllowed: false; readonly why: string }

const allowed: BudgetAnswer = { isAllowed: true }

/**
 * Asks every budget that selects a machine for leave to take it away, and books it there.
 *
 * Budgets of 2019 were one to a machine, and two an error (`refuse`). With `all`, each of them has to agree.
 *
 * Guarantees: a machine that is booked already is not booked twice; each booking is a compare-and-swap on the budget as it was
 * judged; when one refuses, what was booked at the others for this is restored.
 */
export async function useBudgets(
  tools: ActorTools,
  machine: Machine,
  several: 'all' | 'refuse',
): Promise<BudgetAnswer> {
  const { namespace = '', labels = {} } = machine.metadata
  const { items } = await tools.api.list(machineDisruptionBudgets, { namespace })
  const mine = items.filter(({ spec }) => spec?.selector !== undefined && isSelected(spec.selector, labels))
  if (mine.length > 1 && several === 'refuse') {
    return { isAllowed: false, why: `${mine.length} budgets select it: ${mine.map(textOf).join(', ')}` }
  }
  for (const budget of mine) {
    const refusal = refusalOf(budget, machine)
    if (refusal !== undefined) return { isAllowed: false, why: refusal }
  }
  const booked: MachineDisruptionBudget[] = []
  for (const budget of mine) {
    if (isBooked(budget, machine)) continue
    const refusal = await change(tools, budget, (now) => {
      const why = refusalOf(now, machine)
      return why === undefined ? book(now, machine, timestamp(tools.clock)) : why
    })
    if (refusal === undefined) {
      booked.push(budget)
      continue
    }
    for (const other of booked) await change(tools, other, (now) => restored(now, machine))
    return { isAllowed: false, why: refusal }
  }
  return allowed
}

/** Why a budget does not let a machine go; a booking that was made before is leave enough. */
function refusalOf(budget: MachineDisruptionBudget, machine: Machine): string | undefined {
  const { status } = budget
  if (isBooked(budget, machine)) return undefined
  if (status === undefined || (status.observedGeneration ?? 0) < (budget.metadata.generation ?? 0)) {
    return `budget ${textOf(budget)} has no current status`
  }
  return status.disruptionsAllowed > 0 ? undefined : `budget ${textOf(budget)} allows no disruption`
}

function isBooked({ status }: MachineDisruptionBudget, machine: Machine): boolean {
  return status?.disruptedMachines?.[machine.metadata.name] !== undefined
}

function book({ status }: MachineDisruptionBudget, machine: Machine, now: string): MachineDisruptionBudgetStatus {
  const held = status as MachineDisruptionBudgetStatus
  return {
    ...held,
    disruptionsAllowed: held.disruptionsAllowed - 1,
    disruptedMachines: { ...held.disruptedMachines, [machine.metadata.name]: now },
  }
}

function restored({ status }: MachineDisruptionBudget, machine: Machine): MachineDisruptionBudgetStatus {
  const held = status as MachineDisruptionBudgetStatus
  const { [machine.metadata.name]: mine, ...others } = held.disruptedMachines ?? {}
  const disruptionsAllowed = mine === undefined ? held.disruptionsAllowed : held.disruptionsAllowed + 1
  return { ...held, disruptionsAllowed, disruptedMachines: others }
}

/** Writes the status unless `next` refuses; undefined: written. A conflict is judged anew on what is there then. */
async function change(
  tools: ActorTools,
  budget: MachineDisruptionBudget,
  next: (now: MachineDisruptionBudget) => MachineDisruptionBudgetStatus | string,
): Promise<string | undefined> {
  let now = budget
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const status = next(now)
    if (typeof status === 'string') return status
    try {
      await tools.api.update(machineDisruptionBudgets, { ...now, status }, { subresource: 'status' })
      return undefined
    } catch (error) {
      if (!hasReason(error, 'Conflict')) throw error
    }
    await sleep(tools.clock, pauseMs)
    now = await tools.api.get(machineDisruptionBudgets, keyOf(budget))
  }
  return `budget ${textOf(budget)} was written by others ${attempts} times`
}

function textOf(budget: MachineDisruptionBudget): string {
  return keyText(keyOf(budget))
}
