import type { UpdateStep } from './steps.ts'
import { recordWrite, type StoredUpdate, type UpdateChange } from './stored-update.ts'

/** The write of what is to be remembered; none where nothing differs. */
export function recordSteps(
  stored: StoredUpdate,
  cluster: Parameters<typeof recordWrite>[1],
  change: UpdateChange,
): UpdateStep[] {
  const record = recordWrite(stored, cluster, change)
  return record === undefined ? [] : [{ do: 'write', write: 'record', ...record }]
}
