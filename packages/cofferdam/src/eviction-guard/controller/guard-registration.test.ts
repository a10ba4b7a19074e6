import { namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import { sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { runController } from '@cofferdam/kubernetes/runtime/controller.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { clusterAdmin } from '@cofferdam/simulator/api-server/user-info.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { expect, it } from 'vitest'
import { emptyLedger, type LedgerEntry } from '../../ledger/rules/ledger.ts'
import { known } from '../../shared/observed.ts'
import { lockedLabel } from '../domain/namespace-labels.ts'
import { createGuardRegistration } from './guard-registration.ts'

it('a namespace keeps its label while the ledger has not been read yet: without it evictions pass by the guard', async () => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1))
  const api = new ApiServer({ clock, random: seededRandom(1) }).as(clusterAdmin)
  const labels = { [lockedLabel]: 'true' }
  await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels } })
  const held = { key: 'pdb/shop/orders', requestId: 'r1' } as LedgerEntry
  const readAt = clock.now() + 60_000
  const isRead = () => clock.now() >= readAt
  const view = (more: object = {}) =>
    ({
      whenSynced: async () => {},
      subscribe: () => () => {},
      get: () => undefined,
      list: () => [],
      byIndex: () => [],
      whenSeen: async () => {},
      ...more,
    }) as never
  const controller = createGuardRegistration({
    api,
    clock,
    settings: { address: () => undefined, guardsDeletions: false },
    report: () => {},
    policy: { maxTtlMs: 1, maxHoldMs: 1, maxPerNamespace: 1 },
    views: {
      configurations: view(),
      budgets: view(),
      namespaces: view({
        get: () => ({ name: 'shop', label: 'true' }),
        list: () => [{ name: 'shop' }],
        // Listed before the ledger: it asks for a look at once.
        subscribe: (listener: (change: object) => void) => {
          listener({ type: 'added', key: 'shop', value: { name: 'shop' } })
          return () => {}
        },
      }),
      ledger: view({
        whenSynced: () => sleep(clock, 60_000),
        list: () => (isRead() ? [known({ ...emptyLedger, entries: [held] })] : []),
      }),
    },
  })
  const label = async () => (await api.get(namespaces, { name: 'shop' })).metadata.labels?.[lockedLabel]
  const running = runController(controller, { clock, random: seededRandom(1) })
  await clock.advance(50_000)
  expect(await label()).toBe('true')
  await clock.advance(20_000)
  expect(await label()).toBe('true')
  await running.stop()
})
