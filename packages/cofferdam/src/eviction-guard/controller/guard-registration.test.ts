import { namespaces } from '@cofferdam/kubernetes/api/resources.ts'
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
  let isRead = false
  const view = (more: object = {}) =>
    ({
      synced: true,
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
      namespaces: view({ get: () => ({ name: 'shop', label: 'true' }) }),
      ledger: view({
        get synced() {
          return isRead
        },
        list: () => (isRead ? [known({ ...emptyLedger, entries: [held] })] : []),
      }),
    },
  })
  const label = async () => (await api.get(namespaces, { name: 'shop' })).metadata.labels?.[lockedLabel]
  const look = () => controller.reconcile('namespace/shop', new AbortController().signal)
  await look()
  expect(await label()).toBe('true')
  isRead = true
  await look()
  expect(await label()).toBe('true')
})
