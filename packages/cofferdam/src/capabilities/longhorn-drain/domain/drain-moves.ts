import { policyFor, ruleOf } from './policy.ts'
import type { LonghornDrainSettings, LonghornNodeView, LonghornSnapshot, ReplicaView, VolumeView } from './snapshot.ts'

/** Most policies move nothing, and then nothing has to be put in order for it. */
export function mayDrainsMove({ settings, volumes }: Pick<LonghornSnapshot, 'settings' | 'volumes'>): boolean {
  const moves = (volume: VolumeView | undefined, intent: LonghornNodeView['intent']) =>
    ruleOf({ setting: policyFor(settings, intent), volume }).startsWith('move')
  return [undefined, 'Reboot' as const].some(
    (intent) => moves(undefined, intent) || volumes.some((volume) => moves(volume, intent)),
  )
}

/** Whether a drain of its node moves the copy, all being well. */
export function doesDrainMove(
  replica: ReplicaView,
  around: {
    readonly setting: LonghornDrainSettings
    readonly intent: LonghornNodeView['intent']
    readonly volume: VolumeView | undefined
    /** Whether no other node has a copy that has not failed. */
    readonly isLast: () => boolean
  },
): boolean {
  if (!replica.isActive || replica.failedAt !== '' || replica.isBeingDeleted) return false
  const rule = ruleOf({ setting: policyFor(around.setting, around.intent), volume: around.volume })
  return rule === 'move-all' || (rule === 'move-last' && around.isLast())
}
