import type { LonghornReplica } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { selectNode } from './attachment-tickets.ts'
import { hostFor, replicasOf, ticketsOf, type VolumeContext, writeReplica } from './volume-context.ts'
import { isSet } from './volume-facts.ts'

/** Attaches and detaches, one step at a time. */
export async function advancePhase(context: VolumeContext): Promise<void> {
  const { ports, volume, notes } = context
  const { data, timings, tools } = ports
  const { name } = volume.metadata
  const target = selectNode(ticketsOf(context), notes.node)
  const heldMs = tools.clock.now() - notes.sinceMs
  const enter = (state: typeof notes.state, node: string | undefined, inMs?: number) => {
    notes.state = state
    notes.node = node
    notes.sinceMs = tools.clock.now()
    if (inMs !== undefined) context.again(inMs)
  }

  switch (notes.state) {
    case 'creating':
      break
    case 'detached':
      if (target !== undefined && replicasOf(context).some(isUsable)) enter('attaching', target, timings.attachMs)
      break
    case 'attaching':
      if (target !== notes.node || !replicasOf(context).some(isUsable)) enter('detached', undefined, 1)
      else if (heldMs < timings.attachMs) context.again(timings.attachMs - heldMs)
      else if (await startEngine(context, target as string)) {
        enter('attached', target)
        notes.wasAttached = true
      }
      break
    case 'attached':
      if (data.engineOf(name) === undefined || target !== notes.node) enter('detaching', notes.node, timings.detachMs)
      break
    case 'detaching':
      if (heldMs < timings.detachMs) context.again(timings.detachMs - heldMs)
      else {
        data.stopEngine(name)
        enter('detached', undefined, 1)
      }
      break
  }
}

/**
 * Starts the engine over all replicas that hold the data and can run.
 *
 * Guarantees: a replica that is left behind is marked as failed before the first write can pass it by.
 */
async function startEngine(context: VolumeContext, node: string): Promise<boolean> {
  const { ports, volume } = context
  const { hosts, data, tools } = ports
  const engineHost = hostFor(context, node)
  if (!hosts.isAlive(engineHost)) return false
  const usable = replicasOf(context).filter(isUsable)
  const holders = usable.some(({ spec }) => isSet(spec?.healthyAt))
    ? usable.filter(({ spec }) => isSet(spec?.healthyAt))
    : usable
  const withHosts = holders.map((replica) => {
    const host = hostFor(context, replica.spec?.nodeID ?? '')
    return { replica, host, canRun: hosts.isAlive(host) && data.storeOf(replica.metadata.name)?.isBroken === false }
  })
  const running = withHosts.filter(({ canRun }) => canRun)
  if (running.length === 0) return false
  const now = timestamp(tools.clock)
  for (const { replica, canRun } of withHosts) {
    if (!canRun) await writeReplica(context, replica, { failedAt: now, lastFailedAt: now, desireState: 'stopped' })
  }
  data.startEngine({
    volume: volume.metadata.name,
    node,
    instanceManager: engineHost,
    replicas: running.map(({ replica, host }) => ({ name: replica.metadata.name, instanceManager: host })),
  })
  return true
}

function isUsable({ spec }: LonghornReplica): boolean {
  return spec?.active !== false && isSet(spec?.nodeID) && !isSet(spec?.failedAt)
}
