import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { createBudgetHealthCheck } from '@cofferdam/simulator/world/machines/budget-health-check.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { disruptionLedgers, ledgerName } from '../../../shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import { namespace } from '../../ceph-drain/testing/ceph-fixture.ts'
import { type FencingFixture, type FencingFixtureOptions, openFencingFixture } from '../testing/fencing-fixture.ts'

let fixture: FencingFixture
afterEach(() => fixture.close())

const all = ['ceph-drain', 'fencing', 'node-disruption', 'disruption-ledger'] as const

async function openCalm(options?: FencingFixtureOptions): Promise<FencingFixture> {
  fixture = await openFencingFixture(options)
  fixture.operate({ controllers: all })
  await fixture.seconds(30)
  fixture.writes()
  return fixture
}

/** `rook-ceph Acting fencing`, in the order of the ledger. */
async function holders(): Promise<string[]> {
  const { status } = await fixture.api.get(disruptionLedgers, { name: ledgerName })
  return (status?.entries ?? [])
    .filter(({ key }) => key.startsWith('storage/'))
    .map(
      ({ requestId, scope, state }) =>
        `${requestId.startsWith('fencing/') ? 'fencing' : requestId.startsWith('ceph-drain/') ? 'ceph-drain' : 'a drain'} ${state} ${scope}`,
    )
}

const phaseOf = async (name: string) => (await fixture.api.get(nodeDisruptions, { name })).status?.phase ?? 'Pending'

async function request(name: string, nodeName: string): Promise<void> {
  await fixture.api.create(nodeDisruptions, {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name },
    spec: { intent: 'Reboot', honourSkipDrain: true, nodeName },
  })
}

describe('a machine that is fenced', () => {
  it('whose OSDs are down loses its label, also when their pods are stuck, so that nobody holds it back', async () => {
    await openCalm()
    fixture.world.kubelet.powerOff('node-x')
    await fixture.until('label off', async () => !(await fixture.labelled()).includes('workers-1'), 180)
    expect(await fixture.budgetLine()).toBe('0: 0 of 2, 2 healthy')
    const { items } = await fixture.api.list(pods, { namespace, labelSelector: 'app=rook-ceph-osd' })
    for (const { metadata, spec } of items) {
      if (spec.nodeName === 'node-x') await fixture.api.delete(pods, { namespace, name: metadata.name })
    }
    await fixture.seconds(60)
    expect(await fixture.labelled()).toEqual(['workers-2', 'workers-3'])
    expect(await fixture.toldAbout('workers-1')).toContain('Normal MachineHasNoOsds')
  })

  it('whose OSDs run is the only one: the budget is closed until its replacement is there and all data is clean', async () => {
    await openCalm()
    const check = createBudgetHealthCheck(fixture.remediator, { notReadySeconds: 300 })
    fixture.world.kubelet.setReady('node-x', false)
    await fixture.until('it is taken', async () => check.controls.remediated().length === 1, 600)
    const seen: string[] = []
    await fixture.until(
      'open again',
      async () => {
        const line = `${(await fixture.budgetLine()).slice(0, 4)}, ${(await fixture.labelled()).join(' ')}`
        if (seen.at(-1) !== line) seen.push(line)
        return line.startsWith('1: 1')
      },
      1_200,
    )
    check.stop()
    expect(seen).toEqual([
      '0: 0, workers-1 workers-2 workers-3',
      '0: 0, workers-2 workers-3',
      '0: 0, workers-2 workers-3 workers-4',
      '1: 1, workers-2 workers-3 workers-4',
    ])
    expect(await holders()).toEqual([])
    expect((await fixture.budget()).metadata.annotations).not.toHaveProperty('cofferdam.io/fences')
  })
})

describe('a fence and a drain', () => {
  it('wait for each other: while a machine is fenced the drain of another failure domain does not begin', async () => {
    await openCalm()
    expect(await fixture.consume('workers-1')).toBe('taken')
    await fixture.seconds(5)
    expect(await fixture.budgetLine()).toBe('0: 0 of 3, 3 healthy, without workers-1')
    expect(await holders()).toEqual(['fencing Acting x'])
    await request('reboot-y', 'node-y')
    await fixture.seconds(60)
    expect(await phaseOf('reboot-y')).toBe('Waiting')
    fixture.world.kubelet.reboot('node-x', 30)
    await fixture.until(
      'drained',
      async () => (await phaseOf('reboot-y')) === 'Draining' || (await phaseOf('reboot-y')) === 'Drained',
      900,
    )
    expect(await fixture.budgetLine()).toMatch(/^0: 0 of 3, \d healthy$/)
  })

  it('wait for each other: while a node is drained no machine of another failure domain may be fenced', async () => {
    await openCalm()
    await request('reboot-y', 'node-y')
    const seen = new Set<string>()
    await fixture.until(
      'it may go',
      async () => {
        const phase = await phaseOf('reboot-y')
        if (phase !== 'Pending' && phase !== 'Waiting' && phase !== 'Locking')
          seen.add((await fixture.budgetLine()).slice(0, 4))
        return phase === 'Drained'
      },
      300,
    )
    expect([...seen]).toEqual(['0: 0'])
    expect(await fixture.consume('workers-1')).toBe('refused')
  })

  it('begin anew when a request is given up: the budget opens again', async () => {
    await openCalm()
    await request('reboot-y', 'node-y')
    await fixture.until('it holds', async () => (await fixture.budgetLine()).startsWith('0: 0'), 60)
    await fixture.api.delete(nodeDisruptions, { name: 'reboot-y' })
    await fixture.until('open', async () => (await fixture.budgetLine()) === '1: 1 of 3, 3 healthy', 600)
    expect(await holders()).toEqual([])
  })
})

it('an entry that nobody fenced for is taken back after ten minutes', async () => {
  await openCalm()
  await fixture.consume('workers-1')
  await fixture.seconds(500)
  expect(await fixture.budgetLine()).toBe('0: 0 of 3, 3 healthy, without workers-1')
  await fixture.seconds(200)
  expect(await fixture.budgetLine()).toBe('1: 1 of 3, 3 healthy')
  expect(await holders()).toEqual([])
})
