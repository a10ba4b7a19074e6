import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { differencesFrom } from '../../capabilities/drain-lock/domain/covers-request.ts'
import type { PodLoss } from '../../capabilities/drain-lock/domain/snapshot.ts'
import { explainDisruption, isOver } from '../../capabilities/drain-lock/view/explain-disruption.ts'
import { type BreakGlass, breakGlassAnnotation, formatBreakGlass } from '../../ledger/rules/break-glass.ts'
import { type NodeDisruption, nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import { compareText } from '../../shared/last-writer.ts'

export interface RequestPlace {
  readonly api: KubeApi
  readonly signal: AbortSignal
}

export interface WantedDisruption {
  readonly nodeName: string
  readonly intent: NodeDisruption['spec']['intent']
  readonly requester: string
  readonly reason?: string
  readonly honourSkipDrain: boolean
  /** What evictions may destroy. */
  readonly accepts: readonly PodLoss[]
  /** How long evicted pods have to end; without it, their own grace period. */
  readonly gracePeriodSeconds?: number
  readonly fallbackAfter?: string
  readonly deadline?: string
  readonly returnWithin?: string
  readonly breakGlass?: BreakGlass
  readonly nowMs: number
}

/** The oldest request for each node that is not over, by the name of the node. */
export async function findUnderWay(place: RequestPlace): Promise<ReadonlyMap<string, NodeDisruption>> {
  const { items } = await listDisruptions(place)
  const underWay = items
    .filter((each) => !isOver(explainDisruption(each)))
    .toSorted((a, b) => compareText(b.metadata.creationTimestamp ?? '', a.metadata.creationTimestamp ?? ''))
  return new Map(underWay.map((each) => [each.spec.nodeName, each]))
}

async function listDisruptions({ api, signal }: RequestPlace): Promise<{ readonly items: readonly NodeDisruption[] }> {
  try {
    return await api.list(nodeDisruptions, { signal })
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
    throw new CofferdamError('OBJECT_NOT_FOUND', 'this cluster does not know the kind NodeDisruption', {
      hint: 'kubectl apply -k deploy/ installs Cofferdam; kubectl drain works without it',
      cause: error,
    })
  }
}

export interface MadeRequest {
  readonly disruption: NodeDisruption
  /** The request existed already. */
  readonly isJoined: boolean
}

/** Makes a request, or joins the one that is under way for the node, if that covers what is wanted. */
export async function makeRequest(
  place: RequestPlace,
  wanted: WantedDisruption,
  standing: NodeDisruption | undefined,
): Promise<MadeRequest> {
  if (standing !== undefined) {
    refuseToJoin(standing, wanted)
    return { disruption: await breakGlassOn(place, standing, wanted), isJoined: true }
  }
  const built = buildRequest(wanted)
  try {
    const disruption = await place.api.create(nodeDisruptions, built, {
      fieldManager: 'cofferdam',
      signal: place.signal,
    })
    return { disruption, isJoined: false }
  } catch (error) {
    if (!hasReason(error, 'AlreadyExists')) throw error
    // Made within the same second, by somebody else or by us before the answer was lost.
    const disruption = await place.api.get(nodeDisruptions, { name: built.metadata.name }, { signal: place.signal })
    refuseToJoin(disruption, wanted)
    return { disruption, isJoined: true }
  }
}

/** Whoever follows a request that asks for less takes its end for what they asked for. */
export function refuseToJoin(standing: NodeDisruption, wanted: WantedDisruption): void {
  const differences = differencesFrom(standing, wanted)
  if (differences.length === 0) return
  const { name } = standing.metadata
  const { nodeName } = wanted
  const fields = differences.map(({ field, underWay, asked }) => `${field} is ${underWay}, asked for ${asked}`)
  const message = `nodedisruption/${name} is in progress for ${nodeName} and does not cover what was asked: ${fields.join('; ')}`
  throw new CofferdamError('REQUEST_DIFFERS', message, {
    hint: `nothing was changed. Wait until it has ended (kubectl get nodedisruption ${name} -w), or cancel it (cofferdam uncordon ${nodeName}), then try again`,
  })
}

async function breakGlassOn(
  { api, signal }: RequestPlace,
  standing: NodeDisruption,
  { breakGlass }: WantedDisruption,
): Promise<NodeDisruption> {
  if (breakGlass === undefined) return standing
  const body = { metadata: { annotations: { [breakGlassAnnotation]: formatBreakGlass(breakGlass) } } }
  const { name } = standing.metadata
  return api.patch(nodeDisruptions, { name }, { type: 'merge', body }, { fieldManager: 'cofferdam', signal })
}

const longestNodePart = 230

/** Named after the node and the second, so that a request whose answer was lost is not made twice. */
export function buildRequest(wanted: WantedDisruption): NodeDisruption {
  const { nodeName, intent, requester, reason, honourSkipDrain, gracePeriodSeconds } = wanted
  const { fallbackAfter, deadline, breakGlass, nowMs } = wanted
  const accepted = Object.fromEntries(wanted.accepts.map((loss) => [loss, true]))
  const stamp = new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  const nodePart = nodeName.slice(0, longestNodePart).replace(/[^a-z0-9]+$/, '')
  return {
    apiVersion: apiVersionOf(nodeDisruptions),
    kind: nodeDisruptions.kind,
    metadata: {
      name: `${nodePart}-${stamp}`,
      ...(breakGlass === undefined ? {} : { annotations: { [breakGlassAnnotation]: formatBreakGlass(breakGlass) } }),
    },
    spec: {
      nodeName,
      intent,
      requester,
      honourSkipDrain,
      ...accepted,
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      ...(reason === undefined ? {} : { reason }),
      ...(fallbackAfter === undefined ? {} : { fallbackAfter }),
      ...(deadline === undefined ? {} : { deadline }),
      ...(wanted.returnWithin === undefined ? {} : { returnWithin: wanted.returnWithin }),
    },
  }
}

/** As the API server would hand it out, for a rehearsal. */
export function asIfMade(wanted: WantedDisruption): NodeDisruption {
  const built = buildRequest(wanted)
  const creationTimestamp = rfc3339(wanted.nowMs)
  return { ...built, metadata: { ...built.metadata, uid: `rehearsal of ${built.metadata.name}`, creationTimestamp } }
}
