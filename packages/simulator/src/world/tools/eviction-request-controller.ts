import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import {
  type EvictionRequest,
  evictionRequests,
  imperativeEvictor,
  type LifecycleEviction,
  lifecycleEvictions,
} from '@cofferdam/kubernetes/api/kinds/eviction-requests.ts'
import { type Condition, conditionOf } from '@cofferdam/kubernetes/api/kube-object.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import { timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type Actor, type ActorPorts, openTools } from '../actor.ts'
import { activeResponder, beginEviction, cancelEviction, passOn } from './eviction-progress.ts'

const checkMs = 15_000

type Targeted = EvictionRequest | LifecycleEviction

/**
 * The two controllers of KEP-4563. One makes an Eviction of all EvictionRequests for a pod, has its responders work one after the other, and
 * tells the requesters how it ended; the other is the last responder, which calls the eviction API until the pod goes. Keys are
 * `namespace/uid` of pods.
 */
export function createEvictionRequestController(ports: ActorPorts): Actor {
  const tools = openTools('evictionrequest-controller', ports)
  const { api, clock } = tools
  const views = {
    requests: tools.views.of(evictionRequests),
    evictions: tools.views.of(lifecycleEvictions),
    pods: tools.views.of(pods),
  }
  const queue = tools.queue({ needs: Object.values(views), work: reconcile })

  async function reconcile(key: string): Promise<void> {
    const requests = [...views.requests.values()].filter((request) => keyOf(request) === key)
    const eviction = [...views.evictions.values()].find((each) => keyOf(each) === key && !isOver(each))
    const target = (requests[0] ?? eviction)?.spec?.target?.pod
    if (target === undefined) return
    const pod = [...views.pods.values()].find(({ metadata }) => metadata.uid === target.uid)
    const isWanted = requests.some(({ spec, metadata }) => {
      return spec?.intent === 'Eviction' && metadata.deletionTimestamp === undefined
    })
    if (pod === undefined || ['Succeeded', 'Failed'].includes(pod.status?.phase ?? '')) {
      if (eviction !== undefined) await conclude(eviction, requests, { type: 'TargetEvicted', reason: 'PodDeleted' })
    } else if (eviction === undefined) {
      if (isWanted) await begin(pod, requests)
    } else if (!isWanted) {
      const canceled = { ...eviction, status: cancelEviction(eviction.status ?? {}) }
      await conclude(canceled, requests, { type: 'Failed', reason: 'CanceledDueToNoRequesters' })
    } else {
      await proceed(eviction, requests, pod)
      queue.addAfter(key, checkMs)
    }
  }

  async function begin(pod: Pod, requests: readonly EvictionRequest[]): Promise<void> {
    const { namespace = '', name, uid = '' } = pod.metadata
    const earlier = [...views.evictions.values()].filter(({ spec }) => spec?.target?.pod?.name === name).length
    const owners = requests.map(({ apiVersion, kind, metadata }) => {
      return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' }
    })
    const created = await api.create(lifecycleEvictions, {
      apiVersion: apiVersionOf(lifecycleEvictions),
      kind: lifecycleEvictions.kind,
      metadata: {
        namespace,
        name: `pod-${earlier + 1}-${name}`,
        labels: Object.fromEntries(requests.map(({ spec }) => [spec?.requesterName ?? '', 'requester'])),
        ownerReferences: owners,
      },
      spec: { target: { pod: { name, uid } } },
    })
    const named = (pod.spec.evictionResponders ?? []).map((responder) => responder.name)
    await write({ ...created, status: beginEviction(named, clock.now()) })
  }

  async function proceed(eviction: LifecycleEviction, requests: readonly EvictionRequest[], pod: Pod): Promise<void> {
    const before = eviction.status ?? {}
    const status = passOn(before, clock.now())
    if (status === undefined) return conclude(eviction, requests, { type: 'Failed', reason: 'NoFurtherResponder' })
    if (status !== before) await write({ ...eviction, status })
    else if (activeResponder(eviction) === imperativeEvictor) await evict(pod)
  }

  /** What is refused is tried again. */
  async function evict({ metadata }: Pod): Promise<void> {
    const { namespace = '', name, uid = '', deletionTimestamp } = metadata
    if (deletionTimestamp === undefined) await evictPod(api, { namespace, name, uid }).catch(() => undefined)
  }

  async function conclude(
    eviction: LifecycleEviction,
    requests: readonly EvictionRequest[],
    end: Pick<Condition, 'type'> & { readonly reason: string },
  ): Promise<void> {
    const condition = { ...end, status: 'True', message: '', lastTransitionTime: timestamp(clock) } as const
    await write({ ...eviction, status: { ...eviction.status, conditions: [condition] } })
    for (const request of requests) {
      const status = { ...request.status, conditions: [condition] }
      await api.update(evictionRequests, { ...request, status }, { subresource: 'status' })
    }
  }

  async function write(eviction: LifecycleEviction): Promise<void> {
    await api.update(lifecycleEvictions, eviction, { subresource: 'status' })
  }

  const enqueue = (object: Targeted | undefined) => (object === undefined ? undefined : queue.add(keyOf(object)))
  tools.onStop(views.requests.subscribe(({ before, after }) => enqueue(after ?? before)))
  tools.onStop(views.evictions.subscribe(({ after }) => enqueue(after)))
  tools.onStop(
    views.pods.subscribe(({ before, after }) => {
      const pod = after ?? before
      if (pod?.spec.evictionResponders !== undefined) queue.add(`${pod.metadata.namespace}/${pod.metadata.uid}`)
    }),
  )
  return { stop: tools.stop }
}

function keyOf({ metadata, spec }: Targeted): string {
  return `${metadata.namespace}/${spec?.target?.pod?.uid}`
}

function isOver(eviction: LifecycleEviction): boolean {
  return ['Failed', 'TargetEvicted'].some((type) => conditionOf(eviction, type)?.status === 'True')
}
