import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import { rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import {
  differencesFrom,
  type EndingNode,
  type EndingRequest,
  endingOf,
} from '../../capabilities/drain-lock/domain/covers-request.ts'
import type { PodLoss } from '../../capabilities/drain-lock/domain/snapshot.ts'
import { type BreakGlass, formatBreakGlass } from '../../ledger/rules/break-glass.ts'
import { breakGlassAnnotation } from '../../shared/break-glass-annotation.ts'
import { groupedBy } from '../../shared/grouped-by.ts'
import { type NodeDisruption, nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import { compareText } from '../../shared/last-writer.ts'
import { isRequestOver } from '../../shared/tool-request.ts'

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

/** The requests for each node that are not over, oldest first, by the name of the node. */
export async function findOpenRequests(place: RequestPlace): Promise<ReadonlyMap<string, readonly NodeDisruption[]>> {
  const { items } = await listDisruptions(place)
  const open = items
    .filter((each) => !isRequestOver(each))
    .toSorted((a, b) => compareText(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''))
  return groupedBy(open, ({ spec }) => spec.nodeName)
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

/** A drain that is asked for. */
export interface AskedDrain {
  readonly wanted: WantedDisruption
  readonly node: EndingNode
  /** The request that drains the node already. */
  readonly standing: NodeDisruption | undefined
  /** Requests for the node that end before a new one can begin. */
  readonly behind: readonly EndingRequest[]
}

/** How many seconds are tried for a name. */
const namesTried = 5

/** Joins the request that drains the node already, if that covers what is wanted, or makes one. */
export async function makeRequest(place: RequestPlace, asked: AskedDrain): Promise<MadeRequest> {
  const { wanted, standing } = asked
  if (standing !== undefined) {
    refuseToJoin(standing, wanted)
    return { disruption: await breakGlassOn(place, standing, wanted), isJoined: true }
  }
  for (let second = 0; second < namesTried; second += 1) {
    const made = await makeNamed(place, asked, wanted.nowMs + second * 1_000)
    if (made !== undefined) return made
  }
  throw new CofferdamError(
    'REQUEST_DIFFERS',
    `no request for ${wanted.nodeName} could be created: their names are taken`,
    {
      hint: 'nothing was changed; try again in some seconds',
    },
  )
}

/** Undefined where the name of this second belongs to a request that cannot be followed. */
async function makeNamed(
  place: RequestPlace,
  { wanted, node }: AskedDrain,
  nowMs: number,
): Promise<MadeRequest | undefined> {
  const { api, signal } = place
  const built = buildRequest({ ...wanted, nowMs })
  try {
    const disruption = await api.create(nodeDisruptions, built, { fieldManager: 'cofferdam', signal })
    return { disruption, isJoined: false }
  } catch (error) {
    if (!hasReason(error, 'AlreadyExists')) throw error
    // Made within the same second, by somebody else or by us before the answer was lost.
    const taken = await getIfThere(place, built.metadata.name)
    if (taken === undefined || taken.spec.nodeName !== wanted.nodeName) return undefined
    if (isRequestOver(taken) || endingOf(taken, node) !== undefined) return undefined
    refuseToJoin(taken, wanted)
    return { disruption: await breakGlassOn(place, taken, wanted), isJoined: true }
  }
}

async function getIfThere({ api, signal }: RequestPlace, name: string): Promise<NodeDisruption | undefined> {
  try {
    return await api.get(nodeDisruptions, { name }, { signal })
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
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

/** What is wanted of any node. */
export type WantedOfNodes = Omit<WantedDisruption, 'nodeName'>

/** Named after the node and the second, so that a request whose answer was lost is not made twice. */
export function buildRequest({ nodeName, ...wanted }: WantedDisruption): NodeDisruption {
  return requestsFor(wanted)(nodeName)
}

/** The same for one node after the other. */
function requestsFor(wanted: WantedOfNodes): (nodeName: string) => NodeDisruption {
  const { intent, requester, reason, honourSkipDrain, gracePeriodSeconds } = wanted
  const { fallbackAfter, deadline, returnWithin, breakGlass, nowMs } = wanted
  const stamp = new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  const notes = breakGlass && { annotations: { [breakGlassAnnotation]: formatBreakGlass(breakGlass) } }
  const asked = {
    intent,
    requester,
    honourSkipDrain,
    ...Object.fromEntries(wanted.accepts.map((loss) => [loss, true])),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(reason === undefined ? {} : { reason }),
    ...(fallbackAfter === undefined ? {} : { fallbackAfter }),
    ...(deadline === undefined ? {} : { deadline }),
    ...(returnWithin === undefined ? {} : { returnWithin }),
  }
  return (nodeName) => {
    const nodePart = nodeName.slice(0, longestNodePart).replace(/[^a-z0-9]+$/, '')
    return {
      apiVersion: apiVersionOf(nodeDisruptions),
      kind: nodeDisruptions.kind,
      metadata: { name: `${nodePart}-${stamp}`, ...notes },
      spec: { nodeName, ...asked },
    }
  }
}

/** As the API server would hand it out, for a rehearsal. */
export function asIfMade({ nodeName, ...wanted }: WantedDisruption): NodeDisruption {
  return rehearsalsOf(wanted)(nodeName)
}

/** The same for one node after the other. */
export function rehearsalsOf(wanted: WantedOfNodes): (nodeName: string) => NodeDisruption {
  const requestFor = requestsFor(wanted)
  const creationTimestamp = rfc3339(wanted.nowMs)
  return (nodeName) => {
    const built = requestFor(nodeName)
    return { ...built, metadata: { ...built.metadata, uid: `rehearsal of ${built.metadata.name}`, creationTimestamp } }
  }
}
