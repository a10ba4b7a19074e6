import {
  imperativeEvictor,
  type LifecycleEviction,
  type ResponderStatus,
  type TargetResponder,
} from '@cofferdam/kubernetes/api/kinds/eviction-requests.ts'
import { parseRfc3339, rfc3339 } from '@cofferdam/kubernetes/api/timestamp.ts'

/** How long an active responder may send no heartbeat. */
export const silentMs = 20 * 60_000

type Status = NonNullable<LifecycleEviction['status']>

/** All responders in their order, Kubernetes' own last, and the first of them active. */
export function beginEviction(named: readonly string[], nowMs: number): Status {
  const names = [...named, imperativeEvictor]
  return activate(
    {
      targetResponders: names.map((name) => ({ name, state: 'Inactive' })),
      responders: names.map((name) => ({ name })),
    },
    0,
    nowMs,
  )
}

/** Passes a pod on when its active responder has ended or fell silent. Undefined: no responder is left. */
export function passOn(status: Status, nowMs: number): Status | undefined {
  const { targetResponders = [] } = status
  const index = targetResponders.findIndex(({ state }) => state === 'Active')
  const said = status.responders?.[index]
  if (said === undefined) return status
  const state =
    said.completionTime !== undefined ? 'Completed' : silentSince(said) + silentMs <= nowMs ? 'Interrupted' : undefined
  if (state === undefined) return status
  const ended = withState(status, index, state)
  return index + 1 < targetResponders.length ? activate(ended, index + 1, nowMs) : undefined
}

export function cancelEviction(status: Status): Status {
  const index = (status.targetResponders ?? []).findIndex(({ state }) => state === 'Active')
  return index < 0 ? status : withState(status, index, 'Canceled')
}

export function activeResponder(eviction: LifecycleEviction): string | undefined {
  return eviction.status?.targetResponders?.find(({ state }) => state === 'Active')?.name
}

function activate(status: Status, index: number, nowMs: number): Status {
  const responders = (status.responders ?? []).map((each, at) =>
    at === index ? { ...each, startTime: rfc3339(nowMs) } : each,
  )
  return withState({ ...status, responders }, index, 'Active')
}

function withState(status: Status, index: number, state: TargetResponder['state']): Status {
  const targetResponders = (status.targetResponders ?? []).map((each, at) => (at === index ? { ...each, state } : each))
  return { ...status, targetResponders }
}

function silentSince({ heartbeatTime, startTime }: ResponderStatus): number {
  return parseRfc3339(heartbeatTime ?? startTime ?? '') ?? 0
}
