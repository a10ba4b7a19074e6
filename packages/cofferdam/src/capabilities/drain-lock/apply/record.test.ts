import { expect, it } from 'vitest'
import { buildStatus, parseRequest } from './record.ts'

it('a sentence about hundreds of pods is cut, or the API server would refuse the record and the request stand still', () => {
  const object = {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name: 'reboot', uid: 'u-1' },
    spec: { nodeName: 'node-a', intent: 'Reboot' as const, honourSkipDrain: true },
  } as Parameters<typeof buildStatus>[0]
  const words = {
    reason: 'LocksPending' as const,
    explanation: 'shop/web-0, '.repeat(4_000),
    blockedBy: [],
    warnings: [],
  }
  const { conditions = [] } = buildStatus(object, parseRequest(object).record, words, 0)
  expect(conditions.map(({ message }) => message.length <= 32_768 && message.endsWith('…'))).toEqual([true, true])
})
