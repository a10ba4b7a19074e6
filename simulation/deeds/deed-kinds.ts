import { addedWork } from './added-work.ts'
import type { DeedKind } from './deed-kind.ts'
import { faultKinds } from './fault-kinds.ts'
import { workKinds } from './work-kinds.ts'

/** Everything that somebody does or that goes wrong, by its name. */
export const deedKinds: Readonly<Record<string, DeedKind>> = {
  ...workKinds,
  ...Object.assign({}, ...addedWork.map(({ kinds }) => kinds)),
  ...faultKinds,
}
