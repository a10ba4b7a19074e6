import { describe, expect, it } from 'vitest'
import { ApiError } from '../api/api-error.ts'
import { reportUnreadable } from './unreadable-views.ts'

const forbidden = new ApiError('Forbidden', 'leases is forbidden')
const notFound = new ApiError('NotFound', 'the server could not find the requested resource')
const reset = new Error('connection reset')

function reports() {
  const said: string[] = []
  const report = reportUnreadable(
    {
      onError: (error) => said.push(`interrupted: ${(error as Error).message}`),
      onUnreadable: ({ view, users, error }) => said.push(`${view} (${users.join()}): ${error.message}`),
      onReadable: ({ view }) => said.push(`${view} is back`),
    },
    { view: 'leases', users: ['node-maintenance'] },
  )
  return { said, report }
}

type Moment = Error | 'heard'

const cases: Record<string, { given: readonly Moment[]; then: readonly string[] }> = {
  'a right that is missing is said once, however often it is tried': {
    given: [forbidden, forbidden, forbidden],
    then: ['leases (node-maintenance): leases is forbidden'],
  },
  'a kind that is being installed is said once, and that it is back': {
    given: [notFound, notFound, 'heard', 'heard'],
    then: ['leases (node-maintenance): the server could not find the requested resource', 'leases is back'],
  },
  'what is missing for another reason is said again, for there is something else to do': {
    given: [notFound, forbidden],
    then: [
      'leases (node-maintenance): the server could not find the requested resource',
      'leases (node-maintenance): leases is forbidden',
    ],
  },
  'what is lost again after it was back is said again': {
    given: [forbidden, 'heard', forbidden],
    then: [
      'leases (node-maintenance): leases is forbidden',
      'leases is back',
      'leases (node-maintenance): leases is forbidden',
    ],
  },
  'interruptions of the network are said each time, and nothing comes back from them': {
    given: [reset, 'heard', reset, 'heard'],
    then: ['interrupted: connection reset', 'interrupted: connection reset'],
  },
}

describe('what is said of a view that cannot be read', () => {
  it.each(Object.entries(cases))('%s', (_sentence, { given, then }) => {
    const { said, report } = reports()
    for (const moment of given) {
      if (moment === 'heard') report.onHeard()
      else report.onError(moment)
    }
    expect(said).toEqual(then)
  })
})
