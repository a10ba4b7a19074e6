import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { serviceAccountUser } from '@cofferdam/simulator/api-server/user-info.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { expect, it } from 'vitest'
import { askOperatorUser } from './operator-user.ts'

function fixture(create: (answer: KubeApi['create'], attempt: number) => KubeApi['create']) {
  const clock = new VirtualClock()
  const server = new ApiServer({ clock, random: seededRandom(1) })
  server.start()
  const api = server.as(serviceAccountUser('cofferdam-system', 'cofferdam-operator'))
  const stopping = new AbortController()
  const told: string[] = []
  let attempt = 0
  const user = askOperatorUser({
    api: { create: (...asked) => create(api.create.bind(api), ++attempt)(...asked) },
    clock,
    signal: stopping.signal,
    onError: (error) => told.push(String(error)),
  })
  return { clock, user, told, stop: () => stopping.abort(), attempts: () => attempt }
}

const refused = () => Promise.reject(new ApiError('Forbidden', 'not for you'))

it('the operator is whom the API server says it is, without any right but that of every user', async () => {
  const { clock, user, told } = fixture((answer) => answer)
  expect(user.current()).toEqual({ known: false, why: 'the API server has not said yet' })
  await clock.advance(1)
  await user.asked
  expect(user.current()).toEqual({ known: true, value: 'system:serviceaccount:cofferdam-system:cofferdam-operator' })
  expect(told).toEqual([])
})

it('a refusal makes the operator nobody; that is told once, and asked again until there is an answer', async () => {
  const { clock, user, told } = fixture((answer, attempt) => (attempt < 5 ? refused : answer))
  await clock.advance(1)
  expect(user.current()).toEqual({ known: false, why: 'not for you' })
  await clock.advance(40_000)
  await user.asked
  expect(user.current()).toMatchObject({ known: true })
  expect(told).toEqual(["Error: eviction tokens are ignored: the operator's own user is not known: not for you"])
})

it('nothing is asked any more after the guard was stopped', async () => {
  const { clock, user, stop, attempts } = fixture(() => refused)
  await clock.advance(1)
  stop()
  await clock.advance(60_000)
  await user.asked
  expect(attempts()).toBe(1)
})
