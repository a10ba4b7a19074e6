import { ApiError, hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import { podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import { evictPod, type KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { lossReasons } from '../../capabilities/drain-lock/domain/pod-losses.ts'
import type { DisruptionSnapshot } from '../../capabilities/drain-lock/domain/snapshot.ts'
import { type DisruptionPlan, planDisruption } from '../../capabilities/drain-lock/view/plan-disruption.ts'
import { type WaveNeeds, waveNeedsOf } from '../../capabilities/drain-lock/view/waves/wave-needs.ts'
import { observeDrains } from '../../observe/observe-drains.ts'
import { openReader } from '../../observe/reader.ts'
import { nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import { observeRehearsal } from '../observe/observe-rehearsal.ts'
import { type AskedDrain, asIfMade, buildRequest } from './drain-request.ts'
import type { PlannedDrain, ServerAnswer } from './drain-result.ts'

export interface RehearsePlace {
  readonly api: KubeApi
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly leaseNamespace: string
}

export interface Rehearsal extends AskedDrain {
  readonly snapshot: DisruptionSnapshot
  readonly needs: WaveNeeds
  readonly notSeen: readonly string[]
}

const atOnce = 8

/** What the operator would see of each; storage too, for whoever wants to know what it needs. */
export async function rehearseWithStorage(
  asked: readonly AskedDrain[],
  { api, clock, signal, leaseNamespace }: RehearsePlace,
): Promise<readonly Rehearsal[]> {
  const read = await openReader({ api, clock, leaseNamespace, signal })
  const requests = asked.map(({ wanted, standing }) => standing ?? asIfMade(wanted))
  const { snapshots, isByStorage } = await observeDrains(requests, read)
  const around = { isByStorage, asked: new Set(asked.map(({ wanted }) => wanted.nodeName)) }
  const notSeen = [...new Set(read.notSeen)]
  return snapshots.map((snapshot, at) => ({
    ...(asked[at] as AskedDrain),
    snapshot,
    needs: waveNeedsOf(snapshot, around),
    notSeen,
  }))
}

async function someAtATime<In, Out>(items: readonly In[], work: (item: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = []
  for (let start = 0; start < items.length; start += atOnce) {
    results.push(...(await Promise.all(items.slice(start, start + atOnce).map(work))))
  }
  return results
}

export function plannedDrain({ standing, snapshot, notSeen }: Rehearsal, observedAt: string): PlannedDrain {
  return {
    outcome: 'planned',
    observedAt,
    ...(standing === undefined ? {} : { underWay: standing.metadata.name }),
    plan: planDisruption(snapshot),
    notSeen,
  }
}

const refusing: readonly string[] = Object.values(lossReasons)

/**
 * Says no before a request is made whose drain would destroy pods that nobody asked to lose, as kubectl does.
 *
 * It asks the operator's own decision. What may not be read here is left to the operator, which holds such a request.
 */
export async function findRefusals(
  asked: readonly AskedDrain[],
  { api, clock, signal }: RehearsePlace,
): Promise<readonly PlannedDrain[]> {
  const fresh = asked.filter(({ standing }) => standing === undefined)
  if (fresh.length === 0) return []
  try {
    const budgets = (await api.list(podDisruptionBudgets, { signal })).items
    const planned = await someAtATime(fresh, async ({ wanted }): Promise<PlannedDrain> => {
      const notSeen: string[] = []
      const seen = { api, clock, signal, storage: [], budgets }
      const plan = planDisruption(await observeRehearsal(asIfMade(wanted), seen, notSeen))
      return { outcome: 'refused', observedAt: timestamp(clock), plan, notSeen }
    })
    return planned.filter(({ plan }) => plan.blockedBy.some(({ reason }) => refusing.includes(reason)))
  } catch (error) {
    if (hasReason(error, 'Forbidden')) return []
    throw error
  }
}

/** What the API server and its admission answer to the request and to each eviction now; nothing is stored. */
export async function askServer(
  { wanted, standing }: AskedDrain,
  { leaves }: DisruptionPlan,
  { api, signal }: Pick<RehearsePlace, 'api' | 'signal'>,
): Promise<readonly ServerAnswer[]> {
  const request = buildRequest(wanted)
  const created =
    standing === undefined
      ? [
          await answered(`nodedisruption/${request.metadata.name}`, 'create', () =>
            api.create(nodeDisruptions, request, { dryRun: true, fieldManager: 'cofferdam', signal }),
          ),
        ]
      : []
  const { gracePeriodSeconds } = wanted
  const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }
  const evicted = await someAtATime(leaves, (pod) => {
    const [namespace = '', name = ''] = pod.split('/')
    return answered(`pod/${pod}`, 'evict', () => evictPod(api, { namespace, name }, { dryRun: true, signal, ...grace }))
  })
  return [...created, ...evicted]
}

async function answered(object: string, act: ServerAnswer['act'], ask: () => Promise<unknown>): Promise<ServerAnswer> {
  try {
    await ask()
    return { object, act, isAccepted: true }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const [cause] = error.details?.causes ?? []
    const says = [error.message, cause?.message].filter((text) => text !== undefined && text !== '').join(' ')
    return { object, act, isAccepted: false, says: `${says} (${error.reason})` }
  }
}
