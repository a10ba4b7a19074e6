import type { MachineBudgetView, MachineView } from '../../capabilities/fencing/domain/snapshot.ts'

/** The machine behind a node, as far as fencing goes. */
export interface MachineNote {
  /** `openshift/openshift-machine-api/worker-1` */
  readonly id: string
  readonly name: string
  /** Absent while it has none. */
  readonly node?: string
  /**
   * `fenced`: a remediator was let through. `removed`: it is being deleted. `kept`: storage lets none go. `counted`: it has
   * OSDs that run, and one such machine may go. `free`: storage does not mind.
   */
  readonly state: 'fenced' | 'removed' | 'kept' | 'counted' | 'free'
}

/** Reads what the operator wrote on machines and budgets; it decides nothing. */
export function buildMachineNotes(
  machines: readonly MachineView[],
  budgets: readonly MachineBudgetView[],
): ReadonlyMap<string, MachineNote> {
  const notes = new Map<string, MachineNote>()
  const fenced = new Set(budgets.flatMap(fencedMachines))
  for (const { api, namespace, name, nodeName, labels, isBeingDeleted } of machines) {
    const over = budgets.filter(({ labelKey }) => labelKey !== undefined && labels[labelKey] === 'true')
    const mayGo = over.every(({ status }) => status.disruptionsAllowed > 0)
    const id = `${api}/${namespace}/${name}`
    notes.set(id, {
      id,
      name,
      ...(nodeName === undefined ? {} : { node: nodeName }),
      state: isBeingDeleted
        ? 'removed'
        : fenced.has(`${namespace}/${name}`)
          ? 'fenced'
          : over.length === 0
            ? 'free'
            : mayGo
              ? 'counted'
              : 'kept',
    })
  }
  return notes
}

/** A budget names machines of its own namespace without it. */
function fencedMachines({ namespace, disrupted, fences }: MachineBudgetView): string[] {
  return [...disrupted.keys(), ...fences.keys()].map((name) => (name.includes('/') ? name : `${namespace}/${name}`))
}

/** One line in the panel of a node; short for the usual state. */
export function machineText({ name, state }: MachineNote, isReady: boolean): string {
  switch (state) {
    case 'removed':
      return `machine ${name} is being removed`
    case 'fenced':
      return `machine ${name} is being fenced`
    case 'kept':
      return isReady ? `machine ${name}, not to be fenced now` : `machine ${name} is kept from being fenced`
    default:
      return isReady ? `machine ${name}` : `machine ${name} may be fenced`
  }
}
