import { type LifecycleEviction, lifecycleEvictions } from '@cofferdam/kubernetes/api/kinds/eviction-requests.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type Actor, type ActorPorts, openTools } from '../actor.ts'
import { activeResponder } from './eviction-progress.ts'

export interface EvictionResponder extends Actor {
  /** `moves db-0`, `moved db-0`, `stopped moving db-0`, in order. */
  readonly done: readonly string[]
}

export interface EvictionResponderOptions {
  /** As pods name it. */
  readonly name: string
  /** How long it takes until the pod may go. */
  readonly moveSeconds: number
  /** It only copies, and leaves the pod to the next. */
  readonly isPartial?: boolean
}

const heartbeatMs = 60_000

/** Moves pods by itself: it sends heartbeats while it copies what the pod has, and then deletes the pod, whatever its budget says. */
export function createEvictionResponder(
  ports: ActorPorts,
  { name, moveSeconds, isPartial = false }: EvictionResponderOptions,
): EvictionResponder {
  const tools = openTools(name.replace('/', '-'), ports)
  const { api, clock } = tools
  const view = tools.views.of(lifecycleEvictions)
  const began = new Map<string, number>()
  const done: string[] = []
  const queue = tools.queue({ needs: [view], work: reconcile })

  async function reconcile(key: string): Promise<void> {
    const eviction = view.get(key)
    const pod = eviction?.spec?.target?.pod
    if (eviction === undefined || pod === undefined) return
    if (activeResponder(eviction) !== name) {
      const isCanceled = eviction.status?.targetResponders?.some(
        (each) => each.name === name && each.state === 'Canceled',
      )
      if (isCanceled === true && began.delete(key)) done.push(`stopped moving ${pod.name}`)
      return
    }
    if (!began.has(key)) done.push(`moves ${pod.name}`)
    const since = began.get(key) ?? clock.now()
    began.set(key, since)
    const leftMs = since + moveSeconds * 1_000 - clock.now()
    if (leftMs > 0) {
      await report(eviction, { heartbeatTime: timestamp(clock) })
      return queue.addAfter(key, Math.min(leftMs, heartbeatMs))
    }
    const { namespace = '' } = eviction.metadata
    if (!isPartial) await api.delete(pods, { namespace, name: pod.name }, { preconditions: { uid: pod.uid } })
    began.delete(key)
    done.push(`moved ${pod.name}`)
    await report(eviction, { heartbeatTime: timestamp(clock), completionTime: timestamp(clock) })
  }

  async function report(
    { metadata: { namespace = '', name: eviction } }: LifecycleEviction,
    said: { readonly heartbeatTime: string; readonly completionTime?: string },
  ): Promise<void> {
    const held = await api.get(lifecycleEvictions, { namespace, name: eviction })
    const responders = (held.status?.responders ?? []).map((each) => (each.name === name ? { ...each, ...said } : each))
    await api.update(lifecycleEvictions, { ...held, status: { ...held.status, responders } }, { subresource: 'status' })
  }

  tools.onStop(
    view.subscribe(({ key, before, after }) => {
      // Its own heartbeats wake it no earlier than it wants to be.
      const isNew = after !== undefined && (before === undefined || activeResponder(before) !== activeResponder(after))
      if (isNew) queue.add(key)
    }),
  )
  return { done, stop: tools.stop }
}
