import type { Json } from '@cofferdam/kubernetes/api/json.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { createModernHealthChecks, type ModernHealthChecksOptions } from './modern-health-checks.ts'
import { type MachinesStage, openMachines, putMachineHealthCheck } from './testing/machines-stage.ts'

async function withChecks(
  options: ModernHealthChecksOptions,
  story: (stage: MachinesStage, fenced: () => string[]) => Promise<void>,
) {
  const { api, version } = options
  const stage = await openMachines({
    ...(api === undefined ? {} : { api }),
    ...(version === undefined ? {} : { version }),
  })
  const checks = createModernHealthChecks(stage.ports, options)
  try {
    await story(stage, () => checks.controls.remediated().map(({ node }) => node))
    expect(stage.failures).toEqual([])
  } finally {
    checks.stop()
    stage.stop()
  }
}

async function statusOf({ api, machines }: MachinesStage) {
  const { healthChecks, namespace } = machines.kinds
  return (await api.get(healthChecks, { namespace, name: 'workers' })).status
}

async function annotate(stage: MachinesStage, annotation: string, value: string | null) {
  const { healthChecks, namespace } = stage.machines.kinds
  const body: { readonly [key: string]: Json } = { metadata: { annotations: { [annotation]: value } } }
  await stage.api.patch(healthChecks, { namespace, name: 'workers' }, { type: 'merge', body })
}

const paused = 'cluster.x-k8s.io/paused'

describe('a health check of today', () => {
  it('takes all sick machines in one pass when no more are sick than it allows', () =>
    withChecks({}, async (stage, fenced) => {
      await putMachineHealthCheck(stage, { maxUnhealthy: '40%' })
      for (const node of ['node-1', 'node-2']) stage.world.kubelet.powerOff(node)
      await stage.minutes(7)
      expect(fenced()).toEqual(['node-1', 'node-2'])
      await stage.minutes(5)
      expect(await stage.machineLines()).toEqual([
        ...[3, 4, 5, 6].map((number) => `workers-${number} Running node-${number}`),
        'workers-7 Running workers-7',
        'workers-8 Running workers-8',
      ])
      expect(await statusOf(stage)).toMatchObject({ expectedMachines: 6, currentHealthy: 6, remediationsAllowed: 2 })
    }))

  it('takes none when one more is sick, and says so', () =>
    withChecks({}, async (stage, fenced) => {
      await putMachineHealthCheck(stage, { maxUnhealthy: '40%' })
      for (const node of ['node-1', 'node-2', 'node-3']) stage.world.kubelet.powerOff(node)
      await stage.minutes(30)
      expect(fenced()).toEqual([])
      expect(await statusOf(stage)).toMatchObject({
        expectedMachines: 6,
        currentHealthy: 3,
        remediationsAllowed: 0,
        conditions: [{ type: 'RemediationAllowed', status: 'False', reason: 'TooManyUnhealthy' }],
      })
    }))

  it('with a limit that makes no sense takes none', () =>
    withChecks({}, async (stage, fenced) => {
      await putMachineHealthCheck(stage, { maxUnhealthy: 'a few' })
      stage.world.kubelet.powerOff('node-1')
      await stage.minutes(10)
      expect([fenced(), (await statusOf(stage))?.remediationsAllowed]).toEqual([[], 0])
    }))

  it('keeps to its selector and to the time of its conditions', () =>
    withChecks({}, async (stage, fenced) => {
      await stage.change('workers-2', { metadata: { labels: { role: 'storage' } } })
      await putMachineHealthCheck(stage, {
        selector: { matchLabels: { role: 'storage' } },
        maxUnhealthy: 1,
        unhealthyConditions: [{ type: 'Ready', status: 'Unknown', timeout: '60s' }],
      })
      for (const node of ['node-1', 'node-2']) stage.world.kubelet.powerOff(node)
      await stage.seconds(90)
      expect(fenced()).toEqual([])
      await stage.seconds(30)
      expect(fenced()).toEqual(['node-2'])
    }))

  it('does nothing while it is paused, and goes on when it is not', () =>
    withChecks({}, async (stage, fenced) => {
      await putMachineHealthCheck(stage)
      await stage.seconds(2)
      await annotate(stage, paused, '')
      stage.world.kubelet.powerOff('node-1')
      await stage.minutes(20)
      expect([fenced(), (await statusOf(stage))?.currentHealthy]).toEqual([[], 6])
      await annotate(stage, paused, null)
      await stage.seconds(1)
      expect(fenced()).toEqual(['node-1'])
    }))

  it('takes a machine whose node was deleted by hand', () =>
    withChecks({}, async (stage, fenced) => {
      await putMachineHealthCheck(stage)
      await stage.seconds(2)
      await stage.api.delete(nodes, { name: 'node-4' })
      await stage.seconds(2)
      expect(fenced()).toEqual(['node-4'])
    }))

  it('that reboots cycles the power once, and the Machine stays', () =>
    withChecks({ remedy: 'reboot' }, async (stage, fenced) => {
      await putMachineHealthCheck(stage)
      stage.world.kubelet.powerOff('node-1')
      await stage.minutes(30)
      expect(fenced()).toEqual(['node-1'])
      expect(await stage.machineLines()).toContain('workers-1 Running node-1')
    }))

  it('that nobody runs has no status and takes nothing', () =>
    withChecks({ isListening: false }, async (stage, fenced) => {
      await putMachineHealthCheck(stage)
      stage.world.kubelet.powerOff('node-1')
      await stage.minutes(20)
      expect([fenced(), await statusOf(stage)]).toEqual([[], undefined])
    }))
})

describe('a health check of Cluster API', () => {
  it.each(['v1beta1', 'v1beta2'])('in %s leaves a machine alone that says so, and does not count it', (version) =>
    withChecks({ api: 'cluster-api', version }, async (stage, fenced) => {
      await putMachineHealthCheck(stage)
      const skip = { metadata: { annotations: { 'cluster.x-k8s.io/skip-remediation': '' } } }
      await stage.change('workers-1', skip)
      for (const node of ['node-1', 'node-2']) stage.world.kubelet.powerOff(node)
      await stage.minutes(2)
      expect(await statusOf(stage)).toMatchObject({ expectedMachines: 5, currentHealthy: 4 })
      await stage.minutes(5)
      expect(fenced()).toEqual(['node-2'])
      await stage.change('workers-1', { metadata: { annotations: { 'cluster.x-k8s.io/skip-remediation': null } } })
      await stage.seconds(1)
      expect(fenced()).toEqual(['node-2', 'node-1'])
    }),
  )

  it('says in a condition that it is paused', () =>
    withChecks({ api: 'cluster-api' }, async (stage) => {
      await putMachineHealthCheck(stage)
      await annotate(stage, paused, 'true')
      await stage.seconds(1)
      expect((await statusOf(stage))?.conditions).toMatchObject([{ type: 'Paused', status: 'True', reason: 'Paused' }])
    }))

  it('reads the settings of the newest version', () =>
    withChecks({ api: 'cluster-api' }, async (stage, fenced) => {
      const spec = {
        checks: { unhealthyNodeConditions: [{ type: 'Ready', status: 'Unknown', timeoutSeconds: 30 }] },
        remediation: { triggerIf: { unhealthyLessThanOrEqualTo: '20%' } },
      }
      await putMachineHealthCheck(stage, { ...spec, maxUnhealthy: undefined } as object)
      stage.world.kubelet.powerOff('node-1')
      await stage.seconds(100)
      expect(fenced()).toEqual(['node-1'])
      for (const node of ['node-2', 'node-3']) stage.world.kubelet.powerOff(node)
      await stage.minutes(10)
      expect(fenced()).toEqual(['node-1'])
    }))
})
