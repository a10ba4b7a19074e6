import { openScenario, type Scenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { createDisruption, installDefinitions } from '../ledger/store/testing/ledger-fixture.ts'
import { type NodeDisruption, nodeDisruptions } from '../shared/kinds/node-disruption.ts'
import { buildCustomResourceDefinitions } from './custom-resource-definitions.ts'

let scenario: Scenario | undefined
afterEach(() => scenario?.stop())

async function open(): Promise<Scenario> {
  scenario = openScenario()
  await installDefinitions(scenario.api)
  return scenario
}

type Spec = Partial<Record<keyof NodeDisruption['spec'], unknown>>

function disruption(spec: Spec): NodeDisruption {
  return {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name: 'reboot-a' },
    spec: spec as NodeDisruption['spec'],
  }
}

it('a request needs no more than the name of a node: it is a reboot that honours what wants to stay and destroys nothing', async () => {
  const { api } = await open()
  const { spec } = await api.create(nodeDisruptions, disruption({ nodeName: 'a' }))
  const destroysNothing = { force: false, deleteEmptyDirData: false }
  expect(spec).toEqual({ nodeName: 'a', intent: 'Reboot', honourSkipDrain: true, ...destroysNothing })
})

describe('a request is refused, with the field named,', () => {
  const cases: Record<string, [Spec, RegExp]> = {
    'when it names no node': [{}, /spec\.nodeName: Required value/],
    'when the name of the node is empty': [{ nodeName: '' }, /spec\.nodeName/],
    'when its intent is unknown': [{ nodeName: 'a', intent: 'Explode' }, /spec\.intent: Unsupported value: "Explode"/],
    'when fallbackAfter has no unit': [{ nodeName: 'a', fallbackAfter: '30' }, /spec\.fallbackAfter/],
    'when fallbackAfter is empty': [{ nodeName: 'a', fallbackAfter: '' }, /spec\.fallbackAfter/],
    'when the deadline is no time': [{ nodeName: 'a', deadline: 'tonight' }, /spec\.deadline/],
  }
  for (const [scenario, [spec, message]] of Object.entries(cases)) {
    it(scenario, async () => {
      const { api } = await open()
      await expect(api.create(nodeDisruptions, disruption(spec))).rejects.toThrow(message)
    })
  }

  for (const [field, value] of [
    ['nodeName', 'b'],
    ['intent', 'Remove'],
  ] as const) {
    it(`when it changes its ${field}`, async () => {
      const { api } = await open()
      const created = await api.create(nodeDisruptions, disruption({ nodeName: 'a' }))
      const changed = { ...created, spec: { ...created.spec, [field]: value } }
      await expect(api.update(nodeDisruptions, changed)).rejects.toThrow(
        `${field} is immutable: create another NodeDisruption instead`,
      )
    })
  }
})

describe('a record', () => {
  const web = { namespace: 'shop', name: 'web', uid: 'web-uid' }
  const db = { namespace: 'shop', name: 'db', uid: 'db-uid' }

  it('takes everything that a disruption writes down', async () => {
    const { api } = await open()
    const time = '2026-01-01T00:00:00Z'
    const status: NodeDisruption['status'] = {
      observedGeneration: 1,
      phase: 'Draining',
      phaseSince: time,
      epoch: 3,
      lockedBudgets: [web],
      lockedAt: time,
      skippedPods: [{ namespace: 'shop', name: 'web-0', uid: 'u0' }],
      evictedPods: [{ namespace: 'shop', name: 'web-1', uid: 'u1' }],
      cordonedBy: 'cofferdam',
      nodeUid: 'node-uid',
      bootIDBefore: 'boot-1',
      bootIDAfter: 'boot-2',
      hasFallenBack: false,
      blockedBy: [{ object: 'pdb/shop/db', holder: 'eve', since: time, reason: 'AppLocked', wayOut: 'wait' }],
      warnings: [{ object: 'pod/shop/web-1', says: 'it tolerates 5 minutes only' }],
      conditions: [{ type: 'Ready', status: 'True', reason: 'Yes', message: '', lastTransitionTime: time }],
    }
    await createDisruption(api, 'reboot-a', 'a', status)
    expect((await api.get(nodeDisruptions, { name: 'reboot-a' })).status).toEqual(status)
  })

  it('keeps every budget that was locked, whoever writes: more may be added, none taken away', async () => {
    const { api } = await open()
    const before = await createDisruption(api, 'reboot-a', 'a', { lockedBudgets: [web] })
    const write = (lockedBudgets: (typeof web)[]) =>
      api.update(nodeDisruptions, { ...before, status: { lockedBudgets } }, { subresource: 'status' })
    await expect(write([db])).rejects.toThrow('lockedBudgets is append-only: a budget that was locked stays on record')
    await expect(write([])).rejects.toThrow('lockedBudgets is append-only')
    const empty = api.update(nodeDisruptions, { ...before, status: {} }, { subresource: 'status' })
    await expect(empty).rejects.toThrow('lockedBudgets is append-only')
    expect((await write([web, db])).status?.lockedBudgets).toEqual([web, db])
  })
})

it('what kubectl shows of a request is what one looks for at night', () => {
  const [requests] = buildCustomResourceDefinitions() as unknown as {
    spec: { versions: { additionalPrinterColumns: { name: string; priority?: number }[] }[] }
  }[]
  const columns = requests?.spec.versions[0]?.additionalPrinterColumns ?? []
  const names = (isWide: boolean) => columns.filter((each) => (each.priority === 1) === isWide).map(({ name }) => name)
  expect(names(false)).toEqual(['Node', 'Intent', 'Requester', 'Phase', 'Blocked By', 'Since', 'Age'])
  expect(names(true)).toEqual(['Held By', 'Way Out'])
})
