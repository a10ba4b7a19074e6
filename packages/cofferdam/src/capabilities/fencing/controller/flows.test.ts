import { pods } from '@cofferdam/kubernetes/api/resources.ts'
import { createBudgetHealthCheck } from '@cofferdam/simulator/world/machines/budget-health-check.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { disruptionLedgers, ledgerName } from '../../../shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '../../../shared/kinds/node-disruption.ts'
import { namespace } from '../../ceph-drain/testing/ceph-stage.ts'
import { type FencingStage, type FencingStageOptions, openFencingStage } from '../testing/fencing-stage.ts'

let stage: FencingStage
afterEach(() => stage.close())

const all = ['ceph-drain', 'fencing', 'node-disruption', 'disruption-ledger'] as const

async function openCalm(options?: FencingStageOptions): Promise<FencingStage> {
  stage = await openFencingStage(options)
  stage.operate({ controllers: all })
  await stage.seconds(30)
  stage.writes()
  return stage
}

/** `rook-ceph Acting fencing`, in the order of the ledger. */
async function holders(): Promise<string[]> {
  const { status } = await stage.api.get(disruptionLedgers, { name: ledgerName })
  return (status?.entries ?? [])
    .filter(({ key }) => key.startsWith('storage/'))
    .map(
      ({ requestId, scope, state }) =>
        `${requestId.startsWith('fencing/') ? 'fencing' : requestId.startsWith('ceph-drain/') ? 'ceph-drain' : 'a drain'} ${state} ${scope}`,
    )
}

const phaseOf = async (name: string) => (await stage.api.get(nodeDisruptions, { name })).status?.phase ?? 'Pending'

async function request(name: string, nodeName: string): Promise<void> {
  await stage.api.create(nodeDisruptions, {
    apiVersion: 'cofferdam.io/v1alpha1',
    kind: 'NodeDisruption',
    metadata: { name },
    spec: { intent: 'Reboot', honourSkipDrain: true, nodeName },
  })
}

describe('a machine that is fenced', () => {
  it('whose OSDs are down loses its label, also when their pods are stuck, so that nobody holds it back', async () => {
    await openCalm()
    stage.world.kubelet.powerOff('node-x')
    await stage.until('label off', async () => !(await stage.labelled()).includes('workers-1'), 180)
    expect(await stage.budgetLine()).toBe('0: 0 of 2, 2 healthy')
    const { items } = await stage.api.list(pods, { namespace, labelSelector: 'app=rook-ceph-osd' })
    for (const { metadata, spec } of items) {
      if (spec.nodeName === 'node-x') await stage.api.delete(pods, { namespace, name: metadata.name })
    }
    await stage.seconds(60)
    expect(await stage.labelled()).toEqual(['workers-2', 'workers-3'])
    expect(await stage.toldAbout('workers-1')).toContain('Normal MachineHasNoOsds')
  })

  it('whose OSDs run is the only one: the budget is closed until its replacement is there and all data is clean', async () => {
    await openCalm()
    const check = createBudgetHealthCheck(stage.remediator, { notReadySeconds: 300 })
    stage.world.kubelet.setReady('node-x', false)
    await stage.until('it is taken', async () => check.controls.remediated().length === 1, 600)
    const seen: string[] = []
    await stage.until(
      'open again',
      async () => {
        const line = `${(await stage.budgetLine()).slice(0, 4)}, ${(await stage.labelled()).join(' ')}`
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
    expect((await stage.budget()).metadata.annotations).not.toHaveProperty('cofferdam.io/fences')
  })
})

describe('a fence and a drain', () => {
  it('wait for each other: while a machine is fenced the drain of another failure domain does not begin', async () => {
    await openCalm()
    expect(await stage.consume('workers-1')).toBe('taken')
    await stage.seconds(5)
    expect(await stage.budgetLine()).toBe('0: 0 of 3, 3 healthy, without workers-1')
    expect(await holders()).toEqual(['fencing Acting x'])
    await request('reboot-y', 'node-y')
    await stage.seconds(60)
    expect(await phaseOf('reboot-y')).toBe('Waiting')
    stage.world.kubelet.reboot('node-x', 30)
    await stage.until(
      'drained',
      async () => (await phaseOf('reboot-y')) === 'Draining' || (await phaseOf('reboot-y')) === 'Drained',
      900,
    )
    expect(await stage.budgetLine()).toMatch(/^0: 0 of 3, \d healthy$/)
  })

  it('wait for each other: while a node is drained no machine of another failure domain may be fenced', async () => {
    await openCalm()
    await request('reboot-y', 'node-y')
    const seen = new Set<string>()
    await stage.until(
      'it may go',
      async () => {
        const phase = await phaseOf('reboot-y')
        if (phase !== 'Pending' && phase !== 'Waiting' && phase !== 'Locking')
          seen.add((await stage.budgetLine()).slice(0, 4))
        return phase === 'Drained'
      },
      300,
    )
    expect([...seen]).toEqual(['0: 0'])
    expect(await stage.consume('workers-1')).toBe('refused')
  })

  it('begin anew when a request is given up: the budget opens again', async () => {
    await openCalm()
    await request('reboot-y', 'node-y')
    await stage.until('it holds', async () => (await stage.budgetLine()).startsWith('0: 0'), 60)
    await stage.api.delete(nodeDisruptions, { name: 'reboot-y' })
    await stage.until('open', async () => (await stage.budgetLine()) === '1: 1 of 3, 3 healthy', 600)
    expect(await holders()).toEqual([])
  })
})

it('an entry that nobody fenced for is taken back after ten minutes', async () => {
  await openCalm()
  await stage.consume('workers-1')
  await stage.seconds(500)
  expect(await stage.budgetLine()).toBe('0: 0 of 3, 3 healthy, without workers-1')
  await stage.seconds(200)
  expect(await stage.budgetLine()).toBe('1: 1 of 3, 3 healthy')
  expect(await holders()).toEqual([])
})
