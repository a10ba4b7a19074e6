import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { JsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { describe, expect, it } from 'vitest'
import { PodEvictor } from './evict.ts'

const { signal } = new AbortController()
const web0 = { namespace: 'shop', name: 'web-0', uid: 'web-0-1' }
const token = { requestId: 'R1', epoch: 7 }

function openEvictor(answer: (asked: number) => Error | undefined) {
  const clock = new VirtualClock()
  const skew = { ms: 0 }
  const bodies: JsonObject[] = []
  const counted: string[] = []
  let most = 0
  let running = 0
  const createSubresource: KubeApi['createSubresource'] = async (_type, _key, _subresource, body) => {
    const asked = bodies.push(body)
    running += 1
    most = Math.max(most, running)
    await Promise.resolve()
    running -= 1
    const error = answer(asked)
    if (error !== undefined) throw error
    return {}
  }
  const skewed = { now: () => clock.now() + skew.ms }
  const evictor = new PodEvictor({ api: { createSubresource }, clock: skewed, count: (result) => counted.push(result) })
  return { clock, skew, bodies, counted, evictor, most: () => most }
}

describe('an eviction', () => {
  it('names the pod it means, the request it is for and the epoch', async () => {
    const { evictor, bodies } = openEvictor(() => undefined)
    expect(await evictor.evict({ pods: [web0], token }, signal)).toEqual([])
    expect(bodies).toEqual([
      {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: {
          name: 'web-0',
          namespace: 'shop',
          annotations: { 'cofferdam.io/disruption': '{"requestId":"R1","epoch":7}' },
        },
        deleteOptions: { preconditions: { uid: 'web-0-1' } },
      },
    ])
  })

  it('carries the grace period that was asked for, 0 too: without it a pod would get its own', async () => {
    const { evictor, bodies } = openEvictor(() => undefined)
    await evictor.evict({ pods: [web0], token, gracePeriodSeconds: 0 }, signal)
    expect(bodies[0]).toMatchObject({ deleteOptions: { gracePeriodSeconds: 0, preconditions: { uid: 'web-0-1' } } })
  })

  it('that is granted is remembered until the request is over, and one that is refused is not', async () => {
    const { evictor } = openEvictor((asked) => (asked === 1 ? undefined : new ApiError('TooManyRequests', 'no')))
    const web1 = { ...web0, name: 'web-1', uid: 'web-1-1' }
    await evictor.evict({ pods: [web0, web1], token }, signal)
    await evictor.evict({ pods: [web1], token }, signal)
    expect(evictor.granted('R1')).toEqual([web0])
    evictor.forget('R1')
    expect(evictor.granted('R1')).toEqual([])
  })

  const tooMany = (cause: object) =>
    new ApiError('TooManyRequests', 'Cannot evict pod', { details: { causes: [cause] } })
  const refusals: Record<string, [Error, string, string, string]> = {
    'by its budget is told in the words of the budget': [
      tooMany({ reason: 'DisruptionBudget', message: 'The disruption budget web needs 2 healthy pods' }),
      'BudgetExhausted',
      'the API server',
      'The disruption budget web needs 2 healthy pods',
    ],
    'by the guard, for a budget that is held, names the budget': [
      tooMany({ reason: 'DisruptionBudget', message: 'Pod shop/web-0 must stay: held', field: 'pdb/shop/web' }),
      'HeldByRequest',
      'pdb/shop/web',
      'Pod shop/web-0 must stay: held',
    ],
    'by the guard, because somebody took the request over, says so': [
      tooMany({ reason: 'EpochVoid', message: 'Pod shop/web-0 must stay: epoch 7', field: 'node/node-a' }),
      'EpochVoid',
      'node/node-a',
      'Pod shop/web-0 must stay: epoch 7',
    ],
    'because two budgets cover it is told as the server tells it': [
      new ApiError('', 'This pod has more than one PodDisruptionBudget', { code: 500 }),
      'BudgetOverlap',
      'the API server',
      'This pod has more than one PodDisruptionBudget',
    ],
    'because the budget is not found any more is no sign that the pod is gone': [
      new ApiError('NotFound', 'poddisruptionbudgets.policy "web" not found', {
        details: { kind: 'poddisruptionbudgets' },
      }),
      'HoldUnknown',
      'the API server',
      'poddisruptionbudgets.policy "web" not found',
    ],
    'because the status of the budget makes no sense': [
      new ApiError('Forbidden', 'pdb disruptions allowed is negative', { details: { kind: 'poddisruptionbudget' } }),
      'BudgetUncountable',
      'the API server',
      'pdb disruptions allowed is negative',
    ],
    'because we may not': [
      new ApiError('Forbidden', 'pods "web-0" is forbidden', { details: { kind: 'pods' } }),
      'RightsMissing',
      'the API server',
      'pods "web-0" is forbidden',
    ],
    'because the guard does not answer': [
      new ApiError('InternalError', 'failed calling webhook'),
      'HoldUnknown',
      'the API server',
      'failed calling webhook',
    ],
  }

  it.each(Object.entries(refusals))('refused %s', async (_, [error, reason, holder, words]) => {
    const { evictor, counted } = openEvictor(() => error)
    expect(await evictor.evict({ pods: [web0], token }, signal)).toEqual([
      {
        object: 'pod/shop/web-0',
        holder,
        since: '2026-01-01T00:00:00Z',
        reason,
        wayOut: `Retried every 5 s; refused with: ${words}`,
      },
    ])
    expect(counted).toEqual(['refused'])
  })

  it('of a pod that is gone, or has another uid by now, is nobody’s concern', async () => {
    const answers = [
      new ApiError('NotFound', 'pods "web-0" not found', { details: { kind: 'pods' } }),
      new ApiError('Conflict', 'the UID in the precondition does not match'),
    ]
    const { evictor, counted } = openEvictor((asked) => answers[asked - 1])
    const pods = [web0, { ...web0, name: 'web-1', uid: 'web-1-1' }]
    expect(await evictor.evict({ pods, token }, signal)).toEqual([])
    expect(counted).toEqual(['gone', 'overtaken'])
  })

  it('that was refused is asked for again after five seconds, and keeps the time since when', async () => {
    const { evictor, clock, bodies } = openEvictor(() => new ApiError('TooManyRequests', 'no'))
    const [first] = await evictor.evict({ pods: [web0], token }, signal)
    await clock.advance(4_000)
    expect(await evictor.evict({ pods: [web0], token }, signal)).toEqual([first])
    expect(bodies).toHaveLength(1)
    await clock.advance(1_000)
    expect(await evictor.evict({ pods: [web0], token }, signal)).toEqual([first])
    expect(bodies).toHaveLength(2)
  })

  it('is asked for again when the clock was turned back: seed 1795 left a node in its drain for a day, though the budget allowed it', async () => {
    const { evictor, clock, skew, bodies } = openEvictor((asked) =>
      asked === 1 ? new ApiError('TooManyRequests', 'no') : undefined,
    )
    skew.ms = 86_400_000
    await evictor.evict({ pods: [web0], token }, signal)
    skew.ms = 0
    await clock.advance(5_000)
    expect(await evictor.evict({ pods: [web0], token }, signal)).toEqual([])
    expect(bodies).toHaveLength(2)
  })

  it('whose answer was lost fails the round, after the others were asked for', async () => {
    const lost = new CofferdamError('API_UNREACHABLE', 'cut off')
    const { evictor, bodies } = openEvictor((asked) => (asked === 1 ? lost : undefined))
    const pods = [web0, { ...web0, name: 'web-1', uid: 'web-1-1' }]
    await expect(evictor.evict({ pods, token }, signal)).rejects.toBe(lost)
    expect(bodies).toHaveLength(2)
  })

  it('of many pods runs side by side, but not all at once', async () => {
    const { evictor, most, bodies } = openEvictor(() => undefined)
    const pods = Array.from({ length: 100 }, (_, index) => ({ ...web0, name: `web-${index}`, uid: `${index}` }))
    await evictor.evict({ pods, token }, signal)
    expect([bodies.length, most()]).toEqual([100, 16])
  })
})
