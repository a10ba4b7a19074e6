import type { NodeDisruption } from '../../../shared/kinds/node-disruption.ts'
import type { HandedPlace } from './handed-places.ts'
import type { KuredFlags } from './kured-flags.ts'
import type { KuredLock } from './kured-lock.ts'
import type { KuredNode } from './snapshot.ts'

/** As requests for it are labelled. */
export const kuredTool = 'kured'

/** What is known of a kured whose flags and lock could be read. */
export interface KuredView {
  readonly nowMs: number
  /** Where kured is, as a user finds it. */
  readonly object: string
  /** Whether Cofferdam decides which node has the lock. Otherwise it only ends what it has begun. */
  readonly isActive: boolean
  /** Whether kured may begin a reboot now. */
  readonly mayBegin: boolean
  /** Whether it may be about to reboot a node that has the lock. */
  readonly mayReboot: boolean
  readonly flags: KuredFlags
  readonly lock: KuredLock
  readonly handed: readonly HandedPlace[]
  readonly nodes: ReadonlyMap<string, KuredNode>
  /** Made for kured, by node, while they are not over. */
  readonly standing: ReadonlyMap<string, NodeDisruption>
  /** Made for kured, and over, by node. */
  readonly over: ReadonlyMap<string, readonly NodeDisruption[]>
}

const slackMs = 600_000
const pauseMs = 6 * 3_600_000

/** kured checks once in a period; one that has not begun after two of them is kept from it, or no longer wants to. */
export function isOverdue({ flags, nowMs }: KuredView, { sinceMs }: HandedPlace): boolean {
  return nowMs - sinceMs > 2 * flags.periodMs + flags.delayMs + slackMs
}

/** Whether kured had the node drained and the lock for it lately, and did not reboot it. */
export function isPaused({ handed, nowMs }: KuredView, { name, bootID }: KuredNode): boolean {
  const given = handed.find(({ nodeName }) => nodeName === name)
  return given?.gaveUpMs !== undefined && given.bootID === bootID && nowMs - given.gaveUpMs < pauseMs
}

/** Whether the boot has ended that a request was made to end. */
export function hasRebooted({ status }: NodeDisruption, { bootID }: KuredNode): boolean {
  return status?.bootIDBefore !== undefined && bootID !== '' && bootID !== status.bootIDBefore
}
