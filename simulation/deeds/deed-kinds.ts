import type { DeedKind } from './deed-kind.ts'
import { faultKinds } from './fault-kinds.ts'
import { laterWork } from './later-work.ts'
import { workKinds } from './work-kinds.ts'

/** Everything that somebody does or that goes wrong, by its name. */
export const deedKinds: Readonly<Record<string, DeedKind>> = { ...workKinds, ...laterWork, ...faultKinds }
