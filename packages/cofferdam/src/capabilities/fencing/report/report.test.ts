import { EventRecorder } from '@cofferdam/kubernetes/runtime/event-recorder.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Reason } from '../../../shared/reasons.ts'
import type { FencingDecision } from '../domain/decision.ts'
import type { FencingSnapshot } from '../domain/snapshot.ts'
import type { FencingViews } from '../observe/observe.ts'
import { FencingReporter } from './report.ts'

const cluster = {
  apiVersion: 'ceph.rook.io/v1',
  kind: 'CephCluster',
  metadata: { namespace: 'rook-ceph', name: 'main' },
}
const views = { clusters: { get: () => cluster, list: () => [cluster] } } as unknown as FencingViews
const snapshot = { budgets: [], nodes: [], machines: [] } as unknown as FencingSnapshot

let clock: VirtualClock
let told: string[]
let reporter: FencingReporter

beforeEach(() => {
  clock = new VirtualClock()
  told = []
  reporter = new FencingReporter(
    {
      show() {},
      events: new EventRecorder({
        clock,
        write: async (_, { type, reason, note }) => told.push(`${type} ${reason}: ${note}`),
      }),
    },
    views,
  )
})

async function look(reason: Reason, explanation = '', thenSeconds = 5): Promise<void> {
  const isOpen = reason === 'FenceAllowed'
  const budget = { namespace: 'rook-ceph', name: 'main-rook-ceph', maxUnavailable: isOpen ? 1 : 0 } as never
  const decision: FencingDecision = {
    clusters: [{ namespace: 'rook-ceph', name: 'main', uid: 'u1', budget, reason, explanation }],
    labels: [],
    gates: [],
    nodes: [],
    orphanBudgets: [],
    fences: [],
    outages: [],
    outageNotes: [],
    problems: [],
    recheckAfterSeconds: 60,
  }
  await reporter.report({ decision, snapshot, problems: [], refused: [] })
  await clock.advance(thenSeconds * 1_000)
}

describe('that nothing is known of Ceph', () => {
  it('is not told while OSDs are restarted one after the other, and nor is that it is as before', async () => {
    await look('FenceAllowed', 'One machine may go.')
    for (let osd = 0; osd < 20; osd += 1) {
      await look('FenceUnknown', `osd.${osd} came up, 1 placement group has not reported since.`, 20)
      await look('FenceAllowed', 'One machine may go.')
    }
    expect(told).toEqual(['Normal FenceAllowed: One machine may go.'])
  })

  it('is told once when it stays for a minute, in the words of that time, and so is its end', async () => {
    await look('FenceAllowed', 'One machine may go.')
    await look('FenceUnknown', 'osd.1 came up.', 30)
    await look('FenceUnknown', 'Ceph does not answer.', 30)
    expect(told).toHaveLength(1)
    await look('FenceUnknown', 'Ceph does not answer.', 30)
    await look('FenceUnknown', 'Ceph does not answer.', 600)
    await look('FenceAllowed', 'One machine may go.')
    expect(told).toEqual([
      'Normal FenceAllowed: One machine may go.',
      'Warning FenceUnknown: Ceph does not answer.',
      'Normal FenceAllowed: One machine may go.',
    ])
  })

  it('counts anew after each time that it was known', async () => {
    await look('FenceWaitsForData', 'Not all is clean.')
    await look('FenceUnknown', 'osd.1 came up.', 50)
    await look('FenceWaitsForData', 'Not all is clean.')
    await look('FenceUnknown', 'osd.2 came up.', 50)
    await look('FenceUnknown', 'osd.2 came up.', 5)
    expect(told.filter((news) => news.includes('FenceUnknown'))).toEqual([])
  })

  it('after a start is told when it stays too', async () => {
    await look('FenceUnknown', 'Ceph is not polled yet.', 60)
    await look('FenceUnknown', 'Ceph does not answer.')
    expect(told).toEqual(['Warning FenceUnknown: Ceph does not answer.'])
  })
})

it('that the ledger cannot be read is told at once', async () => {
  await look('FenceAllowed', 'One machine may go.')
  await look('LedgerUnknown', 'Who holds the storage is not known.')
  expect(told.at(-1)).toBe('Warning LedgerUnknown: Who holds the storage is not known.')
})
