import { longhornReplicas } from '@cofferdam/kubernetes/api/kinds/longhorn.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { randomSuffix } from '@cofferdam/kubernetes/runtime/random.ts'
import { placedReplicas, placementNodes, placementRequest } from './placement-facts.ts'
import { betterPlaces } from './replica-balance.ts'
import { type Placement, placeReplica } from './replica-scheduler.ts'
import {
  factsOf,
  filledShareOf,
  recordFailure,
  replicasOf,
  type VolumeContext,
  wantedCountOf,
  writeReplica,
} from './volume-context.ts'
import { decideReplenishment, mostRetries, whyNoneNow } from './volume-decisions.ts'
import { isSet } from './volume-facts.ts'
import { buildReplica } from './volume-objects.ts'

/** The replicas that a volume begins with, as long as it was never attached here. */
export async function createFirstReplicas(context: VolumeContext): Promise<void> {
  const { ports, volume, notes } = context
  const found = replicasOf(context)
  const isFilled = filledShareOf(context) > 0
  if (notes.wasAttached || found.some(({ spec }) => isSet(spec?.failedAt))) return
  if (!isFilled && found.some(({ spec }) => isSet(spec?.lastHealthyAt))) return
  const { placedOn = [] } = ports.description.volumes?.find(({ name }) => name === volume.metadata.name) ?? {}
  let number = Math.max(found.length, isFilled ? notes.firstCount : 0)
  notes.unplacedBecause = []
  for (; number < wantedCountOf(context); number += 1) {
    const place = findPlace(context, { hardNode: placedOn[number], ignoresReusable: false })
    if (!place.isPlaced) {
      notes.unplacedBecause = place.reasons
      break
    }
    await createReplica(context, place, { isFirst: true })
    notes.firstCount = number + 1
  }
  const least = ports.settings.flag('allow-volume-creation-with-degraded-availability') ? 1 : wantedCountOf(context)
  if (number >= least) notes.state = 'detached'
}

/** Takes back a replica or makes a new one, where one is missing. */
export async function replenish(context: VolumeContext): Promise<void> {
  const { ports, volume, notes } = context
  const { tools, settings } = ports
  const nowMs = tools.clock.now()
  const { dataLocality, dataEngine } = volume.spec ?? {}
  const answer = decideReplenishment(
    { ...factsOf(context), isStrictLocalV2: dataLocality === 'strict-local' && dataEngine === 'v2' },
    {
      nowMs,
      rebuildLimit: settings.number('concurrent-replica-rebuild-per-node-limit'),
      degradedAtMs: Date.parse(volume.status?.lastDegradedAt ?? '') || nowMs,
      waitMs: settings.number('replica-replenishment-wait-interval') * 1_000,
      mayTry: (replica) => (notes.rests.get(replica)?.untilMs ?? 0) <= nowMs,
    },
  )
  if (answer.kind === 'none') {
    if (answer.because === 'there are enough') notes.unplacedBecause = []
    return
  }
  if (answer.kind === 'wait') {
    context.again(answer.forMs + 1_000)
    return
  }
  if (answer.kind === 'reuse') {
    const replica = replicasOf(context).find(({ metadata }) => metadata.name === answer.replica)
    if (replica !== undefined) await writeReplica(context, replica, { failedAt: '', healthyAt: '' })
    return
  }
  const hardNode = dataLocality === 'strict-local' ? replicasOf(context)[0]?.spec?.nodeID : undefined
  const place = findPlace(context, { hardNode, ignoresReusable: answer.mayIgnoreReusable })
  notes.unplacedBecause = place.isPlaced ? [] : place.reasons
  if (place.isPlaced) await createReplica(context, place, { isFirst: false })
}

/** Makes one copy more where that is better than where the others are; one of them goes once it is whole. */
export async function addBetterReplica(context: VolumeContext): Promise<void> {
  const { ports, volume } = context
  const facts = factsOf(context)
  if (whyNoneNow(facts, ports.settings.number('concurrent-replica-rebuild-per-node-limit')) !== undefined) return
  const nodes = placementNodes(ports, volume).filter(({ isOpen, canStart }) => isOpen && canStart)
  for (const onlyOn of betterPlaces(facts, nodes)) {
    const place = findPlace(context, { onlyOn, ignoresReusable: false })
    if (!place.isPlaced) continue
    await createReplica(context, place, { isFirst: false })
    return
  }
}

function findPlace(
  context: VolumeContext,
  options: {
    readonly hardNode?: string | undefined
    readonly onlyOn?: readonly string[]
    readonly ignoresReusable: boolean
  },
): Placement {
  const { ports, volume, notes } = context
  return placeReplica({
    request: placementRequest(ports, volume, { ...options, attachedTo: notes.node }),
    nodes: placementNodes(ports, volume),
    replicas: placedReplicas(ports, volume, replicasOf(context)),
  })
}

async function createReplica(
  context: VolumeContext,
  { node, diskUuid }: Extract<Placement, { readonly isPlaced: true }>,
  { isFirst }: { readonly isFirst: boolean },
): Promise<void> {
  const { ports, volume } = context
  const { tools, data } = ports
  const { name: volumeName } = volume.metadata
  const name = `${volumeName}-r-${randomSuffix(tools.random, 8)}`
  const hardNode = volume.spec?.dataLocality === 'strict-local' ? node : undefined
  const healthyAt = isFirst && filledShareOf(context) > 0 ? timestamp(tools.clock) : ''
  const retryCount = isFirst ? 0 : mostRetries
  const object = buildReplica(volume, { name, node, diskUuid, hardNode, retryCount, healthyAt })
  const created = await recordFailure(context, 'create', () => tools.api.create(longhornReplicas, object))
  data.addStore({ replica: name, volume: volumeName, node, diskUuid }, isFirst)
  tools.views.of(longhornReplicas).record(created)
}
