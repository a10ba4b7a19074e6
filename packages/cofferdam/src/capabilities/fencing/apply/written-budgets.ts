import { isSameJson } from '@cofferdam/kubernetes/api/json.ts'
import type { MachineDisruptionBudget } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { ClusterAnswer } from '../domain/decision.ts'

/** The specs of budgets as we wrote them last, so that whatever else stands there is somebody else's. */
export class WrittenBudgets {
  /** Why a cluster cannot have one, by `namespace/name`. */
  readonly unmade = new Map<string, string>()
  readonly #specs = new Map<string, unknown>()

  noteMade({ namespace, name }: Pick<ClusterAnswer, 'namespace' | 'name'>, why: string | undefined): void {
    if (why === undefined) this.unmade.delete(`${namespace}/${name}`)
    else
      this.unmade.set(
        `${namespace}/${name}`,
        `its budget cannot be created: ${why} (spec.disruptionManagement.machineDisruptionBudgetNamespace says where)`,
      )
  }

  note(budget: MachineDisruptionBudget | undefined): void {
    if (budget?.metadata.uid !== undefined) this.#specs.set(budget.metadata.uid, budget.spec)
  }

  isForeign({ metadata, spec }: MachineDisruptionBudget): boolean {
    const ours = this.#specs.get(metadata.uid ?? '')
    return ours !== undefined && !isSameJson(ours, spec)
  }
}
