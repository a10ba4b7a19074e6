import { imperativeEvictor } from '@cofferdam/kubernetes/api/kinds/eviction-requests.ts'

/** What is seen of EvictionRequests. They are read only while a pod on the node names responders of its own. */
export type ResponderFacts =
  /** They may not be read. */
  | { readonly state: 'refused'; readonly why: string }
  /** The API server has them, and gave no answer. */
  | { readonly state: 'unknown'; readonly why: string }
  | SeenResponders

export interface SeenResponders {
  readonly state: 'seen'
  /** The EvictionRequests of this NodeDisruption. */
  readonly asks: readonly EvictionAsk[]
  readonly progress: readonly ResponderProgress[]
  /** Pods whose EvictionRequest this process could not write, by uid, with the answer of the API server. */
  readonly refused: ReadonlyMap<string, string>
}

/** An EvictionRequest of ours. */
export interface EvictionAsk {
  readonly namespace: string
  readonly name: string
  readonly podUid: string
  readonly createdMs: number
  /** `ended`: no responder works on it any more, whatever came of it. */
  readonly state: 'open' | 'ended' | 'withdrawn'
}

/** How far the responders of one pod have come. */
export interface ResponderProgress {
  readonly podUid: string
  readonly active: { readonly name: string; readonly expectedMs: number | undefined } | undefined
  /** When any of them began, sent a heartbeat or ended; by the clocks of others. */
  readonly signsMs: readonly number[]
}

/** Beyond these nothing is read: the API server allows no more. */
const most = 16

/** Names of the responders without that of Kubernetes itself, which does nothing that a drain does not do. */
export function ownResponders(named: readonly { readonly name?: unknown }[]): readonly string[] {
  return named
    .slice(0, most)
    .flatMap(({ name }) => (typeof name === 'string' && name !== '' && name !== imperativeEvictor ? name : []))
}
