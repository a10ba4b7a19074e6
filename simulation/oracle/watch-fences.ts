import type { MachineDisruptionBudget } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { Stage } from '../stage/open-stage.ts'
import type { Write } from '../stage/witness.ts'
import type { Blame } from './blame.ts'
import type { Excuses } from './excuses.ts'

/** S8: the operator lets a machine be fenced only while every copy of all data is whole. */
export function watchFences(
  { ceph }: Pick<Stage, 'ceph'>,
  { blame }: Blame,
  excuses: Excuses,
): { judge(write: Write): void } {
  const missing = () => ceph?.controls.truth().groups.find(({ size, whole }) => whole.length < size)?.pool

  return {
    judge({ type, subresource, body }) {
      if (type.plural !== 'machinedisruptionbudgets' || subresource !== 'status') return
      const { status } = (body ?? {}) as Partial<MachineDisruptionBudget>
      const pool = missing()
      if ((status?.disruptionsAllowed ?? 0) === 0 || pool === undefined) return
      if (!excuses.hasJustBroken()) blame('S8', `a machine may be fenced while copies of ${pool} are missing`)
    },
  }
}
