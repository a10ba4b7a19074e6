import type { Json } from '@cofferdam/kubernetes/api/json.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { createModernHealthChecks, type ModernHealthChecksOptions } from './modern-health-checks.ts'
import { type MachinesFixture, openMachines, putMachineHealthCheck } from './testing/machines-fixture.ts'

async function withChecks(
  options: ModernHealthChecksOptions,
  scenario: (fixture: MachinesFixture, fenced: () => string[]) => Promise<void>,
) {
  const { api, version } = options
  const fixture = await openMachines({
    ...(api === undefined ? {} : { api }),
    ...(version === undefined ? {} : { version }),
  })
  const checks = createModernHealthChecks(fixture.ports, options)
  try {
    await scenario(fixture, () => checks.controls.remediated().map(({ node }) => node))
    expect(fixture.failures).toEqual([])
  } finally {
    checks.stop()
    fixture.stop()
  }
}

async function statusOf({ api, machines }: MachinesFixture) {
  const { healthChecks, namespace } = machines.kinds
  return (await api.get(healthChecks, { namespace, name: 'workers' })).status
}

async function annotate(fixture: MachinesFixture, annotation: string, value: string | null) {
  const { healthChecks, namespace } = fixture.machines.kinds
  const body: { readonly [key: string]: Json } = { metadata: { annotations: { [annotation]: value } } }
  await fixture.api.patch(healthChecks, { namespace, name: 'workers' }, { type: 'merge', body })
}

const paused = 'cluster.x-k8s.io/paused'

describe('a health check of today', () => {
  it('takes all sick machines in one pass when no more are sick than it allows', () =>
    withChecks({}, async (fixture, fenced) => {
      await putMachineHealthCheck(fixture, { maxUnhealthy: '40%' })
      for (const node of ['node-1', 'node-2']) fixture.world.kubelet.powerOff(node)
      await fixture.minutes(7)
      expect(fenced()).toEqual(['node-1', 'node-2'])
      await fixture.minutes(5)
      expect(await fixture.machineLines()).toEqual([
        ...[3, 4, 5, 6].map((number) => `workers-${number} Running node-${number}`),
        'workers-7 Running workers-7',
        'workers-8 Running workers-8',
      ])
      expect(await statusOf(fixture)).toMatchObject({ expectedMachines: 6, currentHealthy: 6, remediationsAllowed: 2 })
    }))

  it('takes none when one more is sick, and says so', () =>
    withChecks({}, async (fixture, fenced) => {
      await putMachineHealthCheck(fixture, { maxUnhealthy: '40%' })
      for (const node of ['node-1', 'node-2', 'node-3']) fixture.world.kubelet.powerOff(node)
      await fixture.minutes(30)
      expect(fenced()).toEqual([])
      expect(await statusOf(fixture)).toMatchObject({
        expectedMachines: 6,
        currentHealthy: 3,
        remediationsAllowed: 0,
        conditions: [{ type: 'RemediationAllowed', status: 'False', reason: 'TooManyUnhealthy' }],
      })
    }))

  it('with a limit that makes no sense takes none', () =>
    withChecks({}, async (fixture, fenced) => {
      await putMachineHealthCheck(fixture, { maxUnhealthy: 'a few' })
      fixture.world.kubelet.powerOff('node-1')
      await fixture.minutes(10)
      expect([fenced(), (await statusOf(fixture))?.remediationsAllowed]).toEqual([[], 0])
    }))

  it('keeps to its selector and to the time of its conditions', () =>
    withChecks({}, async (fixture, fenced) => {
      await fixture.change('workers-2', { metadata: { labels: { role: 'storage' } } })
      await putMachineHealthCheck(fixture, {
        selector: { matchLabels: { role: 'storage' } },
        maxUnhealthy: 1,
        unhealthyConditions: [{ type: 'Ready', status: 'Unknown', timeout: '60s' }],
      })
      for (const node of ['node-1', 'node-2']) fixture.world.kubelet.powerOff(node)
      await fixture.seconds(90)
      expect(fenced()).toEqual([])
      await fixture.seconds(30)
      expect(fenced()).toEqual(['node-2'])
    }))

  it('does nothing while it is paused, and goes on when it is not', () =>
    withChecks({}, async (fixture, fenced) => {
      await putMachineHealthCheck(fixture)
      await fixture.seconds(2)
      await annotate(fixture, paused, '')
      fixture.world.kubelet.powerOff('node-1')
      await fixture.minutes(20)
      expect([fenced(), (await statusOf(fixture))?.currentHealthy]).toEqual([[], 6])
      await annotate(fixture, paused, null)
      await fixture.seconds(1)
      expect(fenced()).toEqual(['node-1'])
    }))

  it('takes a machine whose node was deleted by hand', () =>
    withChecks({}, async (fixture, fenced) => {
      await putMachineHealthCheck(fixture)
      await fixture.seconds(2)
      await fixture.api.delete(nodes, { name: 'node-4' })
      await fixture.seconds(2)
      expect(fenced()).toEqual(['node-4'])
    }))

  it('that reboots cycles the power once, and the Machine stays', () =>
    withChecks({ remedy: 'reboot' }, async (fixture, fenced) => {
      await putMachineHealthCheck(fixture)
      fixture.world.kubelet.powerOff('node-1')
      await fixture.minutes(30)
      expect(fenced()).toEqual(['node-1'])
      expect(await fixture.machineLines()).toContain('workers-1 Running node-1')
    }))

  it('that nobody runs has no status and takes nothing', () =>
    withChecks({ isListening: false }, async (fixture, fenced) => {
      await putMachineHealthCheck(fixture)
      fixture.world.kubelet.powerOff('node-1')
      await fixture.minutes(20)
      expect([fenced(), await statusOf(fixture)]).toEqual([[], undefined])
    }))
})

describe('a health check of Cluster API', () => {
  it.each(['v1beta1', 'v1beta2'])('in %s leaves a machine alone that says so, and does not count it', (version) =>
    withChecks({ api: 'cluster-api', version }, async (fixture, fenced) => {
      await putMachineHealthCheck(fixture)
      const skip = { metadata: { annotations: { 'cluster.x-k8s.io/skip-remediation': '' } } }
      await fixture.change('workers-1', skip)
      for (const node of ['node-1', 'node-2']) fixture.world.kubelet.powerOff(node)
      await fixture.minutes(2)
      expect(await statusOf(fixture)).toMatchObject({ expectedMachines: 5, currentHealthy: 4 })
      await fixture.minutes(5)
      expect(fenced()).toEqual(['node-2'])
      await fixture.change('workers-1', { metadata: { annotations: { 'cluster.x-k8s.io/skip-remediation': null } } })
      await fixture.seconds(1)
      expect(fenced()).toEqual(['node-2', 'node-1'])
    }),
  )

  it('says in a condition that it is paused', () =>
    withChecks({ api: 'cluster-api' }, async (fixture) => {
      await putMachineHealthCheck(fixture)
      await annotate(fixture, paused, 'true')
      await fixture.seconds(1)
      expect((await statusOf(fixture))?.conditions).toMatchObject([
        { type: 'Paused', status: 'True', reason: 'Paused' },
      ])
    }))

  it('reads the settings of the newest version', () =>
    withChecks({ api: 'cluster-api' }, async (fixture, fenced) => {
      const spec = {
        checks: { unhealthyNodeConditions: [{ type: 'Ready', status: 'Unknown', timeoutSeconds: 30 }] },
        remediation: { triggerIf: { unhealthyLessThanOrEqualTo: '20%' } },
      }
      await putMachineHealthCheck(fixture, { ...spec, maxUnhealthy: undefined } as object)
      fixture.world.kubelet.powerOff('node-1')
      await fixture.seconds(100)
      expect(fenced()).toEqual(['node-1'])
      for (const node of ['node-2', 'node-3']) fixture.world.kubelet.powerOff(node)
      await fixture.minutes(10)
      expect(fenced()).toEqual(['node-1'])
    }))
})
