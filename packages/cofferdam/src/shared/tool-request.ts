import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import { type NodeDisruption, nodeDisruptions } from './kinds/node-disruption.ts'
import { askedByAnnotation, madeForLabel } from './made-for.ts'
import type { Observed } from './observed.ts'
import { sha256 } from './sha256.ts'
import type { Step } from './steps.ts'

/** A node that another tool is about to take out of service. */
export interface WantedNode {
  readonly nodeName: string
  /** What asks for it, as a user finds it: `nodemaintenance/rack-2`. */
  readonly askedBy: string
  /** The same for as long as the tool asks for one and the same outage: what is over is not asked for again under it. */
  readonly identity: string
  readonly reason: string
  /** It is not the time to begin, or no longer: no request is made for it, and one whose drain has begun is kept. */
  readonly isOnlyKept?: boolean
  readonly spec: Pick<
    NodeDisruption['spec'],
    'intent' | 'honourSkipDrain' | 'force' | 'deleteEmptyDirData' | 'returnWithin'
  >
}

export interface ToolRequestSnapshot {
  /** As the label of its requests names it. */
  readonly tool: string
  readonly wanted: Observed<readonly WantedNode[]>
  /** All requests of the cluster. */
  readonly requests: Observed<readonly NodeDisruption[]>
}

export type ToolRequestStep = MakeRequest | WithdrawRequest

export interface MakeRequest extends Step {
  readonly do: 'write'
  readonly write: 'request'
  readonly request: NodeDisruption
}

export interface WithdrawRequest extends Step {
  readonly do: 'write'
  readonly write: 'withdrawal'
  readonly name: string
  readonly uid: string
}

/**
 * Which requests are made and withdrawn so that each node which a tool wants has one.
 *
 * Guarantees: one request for a node at most, and none anew for an outage that is over. Requests of people and of other tools are left alone.
 * Fails closed: what is not known makes nothing and withdraws nothing.
 */
export function decideToolRequests({ tool, wanted, requests }: ToolRequestSnapshot): readonly ToolRequestStep[] {
  if (!wanted.known || !requests.known) return []
  const own = requests.value.filter(({ metadata }) => metadata.labels?.[madeForLabel] === tool)
  const standing = own.filter((request) => !isRequestOver(request) && request.metadata.deletionTimestamp === undefined)
  const names = new Set(own.map(({ metadata }) => metadata.name))
  const served = new Set(standing.map(({ spec }) => spec.nodeName))
  const steps: ToolRequestStep[] = []
  for (const node of wanted.value) {
    if (node.isOnlyKept === true) continue
    const request = buildToolRequest(tool, node)
    if (served.has(node.nodeName) || names.has(request.metadata.name)) continue
    served.add(node.nodeName)
    steps.push({ do: 'write', write: 'request', request })
  }
  const wantedNames = new Set(wanted.value.map(({ nodeName }) => nodeName))
  const mayBegin = new Set(wanted.value.filter(({ isOnlyKept }) => isOnlyKept !== true).map(({ nodeName }) => nodeName))
  for (const request of standing) {
    const { metadata, spec } = request
    const isWanted = hasBegun(request) ? wantedNames : mayBegin
    // What recovers ends by itself, and its record stays for those who ask how it went.
    if (isWanted.has(spec.nodeName) || request.status?.phase === 'Recovering') continue
    steps.push({ do: 'write', write: 'withdrawal', name: metadata.name, uid: metadata.uid ?? '' })
  }
  return steps
}

/** The request of a tool for a node, while it is not over; undefined where there is none, or none is known. */
export function requestFor(
  { tool, requests }: Pick<ToolRequestSnapshot, 'tool' | 'requests'>,
  nodeName: string,
): NodeDisruption | undefined {
  if (!requests.known) return undefined
  return requests.value.find(
    (each) => each.metadata.labels?.[madeForLabel] === tool && each.spec.nodeName === nodeName && !isRequestOver(each),
  )
}

const longestNodePart = 200

function buildToolRequest(tool: string, { nodeName, askedBy, identity, reason, spec }: WantedNode): NodeDisruption {
  const nodePart = nodeName.slice(0, longestNodePart).replace(/[^a-z0-9]+$/, '')
  return {
    apiVersion: apiVersionOf(nodeDisruptions),
    kind: nodeDisruptions.kind,
    metadata: {
      name: `${nodePart}-${tool}-${sha256(`${nodeName} ${identity}`).slice(0, 8)}`,
      labels: { [madeForLabel]: tool },
      annotations: { [askedByAnnotation]: askedBy },
    },
    spec: { nodeName, requester: tool, reason, ...spec },
  }
}

function hasBegun({ status }: NodeDisruption): boolean {
  return status?.phase === 'Draining' || status?.phase === 'Drained' || status?.phase === 'Recovering'
}

export function isRequestOver({ status }: NodeDisruption): boolean {
  return status?.phase === 'Completed' || status?.phase === 'Rejected'
}
