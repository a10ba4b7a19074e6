import { expect, it } from 'vitest'
import { buildStatus, parseRequest } from './record.ts'

type Disruption = Parameters<typeof buildStatus>[0]

const object = {
  apiVersion: 'cofferdam.io/v1alpha1',
  kind: 'NodeDisruption',
  metadata: { name: 'reboot', uid: 'u-1' },
  spec: { nodeName: 'node-a', intent: 'Reboot' as const, honourSkipDrain: true },
} as Disruption
const pending = { reason: 'LocksPending' as const, explanation: 'It waits.', blockedBy: [], warnings: [] }

it('a sentence about hundreds of pods is cut, or the API server would refuse the record and the request stand still', () => {
  const words = { ...pending, explanation: 'shop/web-0, '.repeat(4_000) }
  const { conditions = [] } = buildStatus(object, parseRequest(object).record, words, 0)
  expect(conditions.map(({ message }) => message.length <= 32_768 && message.endsWith('…'))).toEqual([true, true])
})

it('which budgets are released stays on record, or a ledger that is made again would take them from who holds them now', () => {
  const web = { namespace: 'shop', name: 'web', uid: 'web-1' }
  const record = { ...parseRequest(object).record, lockedBudgets: [web], releasedBudgets: [web] }
  const status = buildStatus(object, record, pending, 0)
  expect(parseRequest({ ...object, status }).record.releasedBudgets).toEqual([web])
})

it('fields and conditions of a later version stay, or it would find its own request half described after a rollback', () => {
  const written = buildStatus(object, parseRequest(object).record, pending, 0)
  const condition = { ...written.conditions?.[0], type: 'Paused', reason: 'SomebodyAsked' }
  const status = { ...written, pausedUntil: 'noon', conditions: [...(written.conditions ?? []), condition] }
  const later = { ...object, status } as Disruption
  expect(buildStatus(later, parseRequest(later).record, pending, 0)).toEqual(status)
})
