import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { evictionRequests } from '@cofferdam/kubernetes/api/kinds/eviction-requests.ts'
import { customResourceDefinitions } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { evictionRequestDefinitions } from '@cofferdam/simulator/cluster-file/eviction-request-definitions.ts'
import { changedApi, openScenario, type Scenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { observeResponders } from '../observe/eviction-requests.ts'
import { ResponderAsker, withdrawAll } from './responders.ts'

const { signal } = new AbortController()
const pods = ['vm-0', 'vm-1'].map((name) => ({ namespace: 'default', name, uid: `${name}-uid` }))
const step = { do: 'write', what: 'ask-responders', pods, requestId: 'r1' } as const
let scenario: Scenario

beforeEach(async () => {
  scenario = openScenario()
  for (const definition of evictionRequestDefinitions())
    await scenario.api.create(customResourceDefinitions, definition)
})

afterEach(() => scenario.stop())

const asks = async () =>
  (await scenario.list(evictionRequests)).map(({ metadata, spec }) => `${metadata.name}: ${spec?.intent}`)

function failing(call: 'create' | 'patch' | 'list', error: Error): KubeApi {
  return changedApi(scenario.api, { [call]: () => Promise.reject(error) })
}

function observe(api: KubeApi) {
  return observeResponders(api, { requestId: 'r1', namespaces: new Set(['default']), refused: new Map() }, signal)
}

it('asks for each pod once, however often it is done, with an owner that takes it along when the pod goes', async () => {
  const asker = new ResponderAsker(scenario.api)
  expect([await asker.ask(step, signal), await asker.ask(step, signal)]).toEqual([true, true])
  expect(await asks()).toEqual(['cofferdam-r1-vm-0-uid: Eviction', 'cofferdam-r1-vm-1-uid: Eviction'])
  const [first] = await scenario.list(evictionRequests)
  expect(first).toMatchObject({
    metadata: { labels: { 'cofferdam.io/request': 'r1' }, ownerReferences: [{ kind: 'Pod', uid: 'vm-0-uid' }] },
    spec: { target: { pod: { name: 'vm-0', uid: 'vm-0-uid' } }, requesterName: 'cofferdam.io/drain' },
  })
})

it.each([
  ['Forbidden', true],
  ['Invalid', true],
  ['NotFound', true],
  ['TooManyRequests', false],
  ['InternalError', false],
])('an answer %s is remembered as a refusal: %s, and otherwise it is tried again', async (reason, isRefusal) => {
  const asker = new ResponderAsker(failing('create', new ApiError(reason, 'no')))
  const asked = asker.ask(step, signal)
  if (isRefusal) expect(await asked).toBe(false)
  else await expect(asked).rejects.toThrow('no')
  expect([...asker.refused('r1').keys()]).toEqual(isRefusal ? ['vm-0-uid', 'vm-1-uid'] : [])
  asker.forget('r1')
  expect(asker.refused('r1').size).toBe(0)
})

it('withdraws what is seen as asked; one that is gone meanwhile is none to withdraw, and a refusal is remembered', async () => {
  const asker = new ResponderAsker(scenario.api)
  await asker.ask(step, signal)
  const seen = await observe(scenario.api)
  const open = seen?.state === 'seen' ? seen.asks : []
  expect(open.map(({ podUid, state }) => `${podUid} ${state}`)).toEqual(['vm-0-uid open', 'vm-1-uid open'])
  await scenario.api.delete(evictionRequests, { namespace: 'default', name: 'cofferdam-r1-vm-0-uid' })
  const withdraw = { do: 'write', what: 'withdraw-asks', asks: open, requestId: 'r1' } as const
  const forbidden = new ResponderAsker(failing('patch', new ApiError('Forbidden', 'no')))
  expect([await forbidden.withdraw(withdraw, signal), forbidden.refused('r1').size]).toEqual([false, 2])
  expect(await asker.withdraw(withdraw, signal)).toBe(true)
  expect(await asks()).toEqual(['cofferdam-r1-vm-1-uid: Withdrawn'])
})

it('withdraws all of one request by its label, and nothing of another', async () => {
  const asker = new ResponderAsker(scenario.api)
  await asker.ask(step, signal)
  await asker.ask({ ...step, requestId: 'r2' }, signal)
  await withdrawAll(scenario.api, 'r1', signal)
  expect((await asks()).filter((ask) => ask.endsWith(': Eviction'))).toEqual([
    'cofferdam-r2-vm-0-uid: Eviction',
    'cofferdam-r2-vm-1-uid: Eviction',
  ])
})

it('a request that is gone is cleaned up where EvictionRequests may not be read, or are not there', async () => {
  for (const reason of ['Forbidden', 'NotFound'])
    await withdrawAll(failing('list', new ApiError(reason, 'no')), 'r1', signal)
  await expect(withdrawAll(failing('list', new ApiError('Timeout', 'late')), 'r1', signal)).rejects.toThrow('late')
})

it.each([
  ['NotFound', undefined],
  ['Forbidden', { state: 'refused', why: 'no' }],
  ['ServiceUnavailable', { state: 'unknown', why: 'no' }],
])('what is seen when the API server answers %s', async (reason, seen) => {
  expect(await observe(failing('list', new ApiError(reason, 'no')))).toEqual(seen)
})
