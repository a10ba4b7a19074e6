import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Lease } from '@cofferdam/kubernetes/api/core.ts'
import {
  medik8sLeaseNamespace,
  type NodeHealthCheck,
  nodeHealthChecks,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { leases, namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import { describe, expect, it } from 'vitest'
import { changedApi } from '../testing/scenario.ts'
import { createNodeHealthCheck, type NodeHealthCheckOptions } from './node-health-check.ts'
import { type MachinesFixture, openMachines, putNodeHealthCheck } from './testing/machines-fixture.ts'

async function withCheck(
  options: NodeHealthCheckOptions & { readonly hasLeases?: boolean },
  scenario: (fixture: MachinesFixture, mended: () => string[]) => Promise<void>,
) {
  const fixture = await openMachines()
  const { api } = fixture
  if (options.hasLeases !== false) {
    await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: medik8sLeaseNamespace } })
  }
  const check = createNodeHealthCheck(fixture.ports, options)
  try {
    await scenario(fixture, () => check.controls.remediated().map(({ node }) => node))
    expect(fixture.failures).toEqual([])
  } finally {
    check.stop()
    fixture.stop()
  }
}

const leaseKey = { namespace: medik8sLeaseNamespace, name: 'node-node-1' }

async function holdLease({ api, clock }: MachinesFixture, renewedMs: number, seconds: number): Promise<Lease> {
  const renewTime = `${new Date(clock.now() + renewedMs).toISOString().slice(0, 23)}000Z`
  return api.create(leases, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: leaseKey,
    spec: { holderIdentity: 'cofferdam', leaseDurationSeconds: seconds, renewTime },
  })
}

async function statusOf({ api }: MachinesFixture) {
  return (await api.get(nodeHealthChecks, { name: 'all' })).status
}

async function setPauses({ api }: MachinesFixture, pauseRequests: string[]) {
  await api.patch(nodeHealthChecks, { name: 'all' }, { type: 'merge', body: { spec: { pauseRequests } } })
}

describe('a NodeHealthCheck', () => {
  it('takes the lease of a sick node, cycles its power, and gives the lease back when it is well', () =>
    withCheck({}, async (fixture, mended) => {
      await putNodeHealthCheck(fixture)
      await fixture.seconds(2)
      expect(await statusOf(fixture)).toEqual({
        phase: 'Enabled',
        observedNodes: 6,
        healthyNodes: 6,
        unhealthyNodes: [],
      })
      fixture.world.kubelet.powerOff('node-1')
      await fixture.minutes(6)
      expect(mended()).toEqual(['node-1'])
      expect((await fixture.api.get(leases, leaseKey)).spec).toMatchObject({
        holderIdentity: 'NodeHealthCheck-all',
        leaseDurationSeconds: 600,
      })
      expect(await statusOf(fixture)).toMatchObject({
        phase: 'Remediating',
        healthyNodes: 5,
        unhealthyNodes: [{ name: 'node-1', remediations: [{ started: expect.any(String) as string }] }],
      })
      await fixture.minutes(3)
      expect(await fixture.nodeLines()).toContain('node-1 True a')
      expect(await statusOf(fixture)).toMatchObject({ phase: 'Enabled', healthyNodes: 6, unhealthyNodes: [] })
      await expect(fixture.api.get(leases, leaseKey)).rejects.toMatchObject({ reason: 'NotFound' })
      await fixture.minutes(20)
      expect(mended()).toEqual(['node-1'])
    }))

  it('leaves a node alone whose lease somebody else holds, and goes within a minute when it is free', () =>
    withCheck({}, async (fixture, mended) => {
      await putNodeHealthCheck(fixture)
      await holdLease(fixture, 0, 3_600)
      fixture.world.kubelet.powerOff('node-1')
      fixture.world.kubelet.powerOff('node-2')
      await fixture.minutes(20)
      expect(mended()).toEqual(['node-2'])
      expect(await statusOf(fixture)).toMatchObject({ phase: 'Enabled', unhealthyNodes: [{ name: 'node-1' }] })
      await fixture.api.delete(leases, leaseKey)
      await fixture.seconds(61)
      expect(mended()).toEqual(['node-2', 'node-1'])
    }))

  it.each([
    ['has lapsed', -900_000, 600],
    ['was renewed in the future', 3_600_000, 3_600],
  ])('takes over a lease that %s', (_, renewedMs, seconds) =>
    withCheck({}, async (fixture, mended) => {
      await putNodeHealthCheck(fixture)
      await holdLease(fixture, renewedMs, seconds)
      fixture.world.kubelet.powerOff('node-1')
      await fixture.minutes(7)
      expect(mended()).toEqual(['node-1'])
    }),
  )

  it('begins nothing while anybody asks for a pause, but ends what it began', () =>
    withCheck({}, async (fixture, mended) => {
      await putNodeHealthCheck(fixture)
      fixture.world.kubelet.powerOff('node-1')
      await fixture.minutes(6)
      await setPauses(fixture, ['an upgrade'])
      fixture.world.kubelet.powerOff('node-2')
      await fixture.minutes(20)
      expect(mended()).toEqual(['node-1'])
      expect(await statusOf(fixture)).toMatchObject({ phase: 'Paused', healthyNodes: 5 })
      await setPauses(fixture, [])
      await fixture.seconds(2)
      expect(mended()).toEqual(['node-1', 'node-2'])
    }))

  it.each([
    ['fewer nodes are well than minHealthy', { minHealthy: 5 }],
    ['more nodes are sick than maxUnhealthy', { maxUnhealthy: '20%' }],
  ])('begins nothing when %s', (_, limits) =>
    withCheck({}, async (fixture, mended) => {
      await putNodeHealthCheck(fixture, limits)
      for (const node of ['node-1', 'node-2']) fixture.world.kubelet.powerOff(node)
      await fixture.minutes(20)
      expect(mended()).toEqual([])
      fixture.world.kubelet.powerOn('node-2')
      await fixture.minutes(1)
      expect(mended()).toEqual(['node-1'])
    }),
  )

  it('with a limit that makes no sense begins nothing', () =>
    withCheck({}, async (fixture, mended) => {
      await putNodeHealthCheck(fixture, { minHealthy: 'most' })
      fixture.world.kubelet.powerOff('node-1')
      await fixture.minutes(10)
      expect([mended(), (await statusOf(fixture))?.healthyNodes]).toEqual([[], 5])
    }))

  it('cycles the power once although its status cannot be written at first', async () => {
    let refusals = 0
    const fixture = await openMachines()
    const { api } = fixture
    const crossed = changedApi(api, {
      update<T extends KubeObject>(...args: Parameters<typeof api.update<T>>): Promise<T> {
        const [, { kind, status }] = args as unknown as [unknown, NodeHealthCheck]
        if (kind !== 'NodeHealthCheck' || status?.phase !== 'Remediating' || refusals === 3)
          return api.update<T>(...args)
        refusals += 1
        return Promise.reject(new ApiError('Conflict', 'somebody else wrote it'))
      },
    })
    const check = createNodeHealthCheck({ ...fixture.ports, api: crossed })
    try {
      await putNodeHealthCheck(fixture)
      fixture.world.kubelet.powerOff('node-1')
      await fixture.minutes(7)
      expect([refusals, check.controls.remediated().map(({ node }) => node)]).toEqual([3, ['node-1']])
      expect(await statusOf(fixture)).toMatchObject({ phase: 'Remediating' })
    } finally {
      check.stop()
      fixture.stop()
    }
  })

  it('goes on without leases where there is no place for them', () =>
    withCheck({ hasLeases: false }, async (fixture, mended) => {
      await putNodeHealthCheck(fixture, {
        unhealthyConditions: [{ type: 'Ready', status: 'Unknown', duration: '2m' }],
      })
      fixture.world.kubelet.powerOff('node-1')
      await fixture.minutes(3)
      expect(mended()).toEqual(['node-1'])
    }))

  it('that nobody runs has no status and mends nothing', () =>
    withCheck({ isListening: false }, async (fixture, mended) => {
      await putNodeHealthCheck(fixture)
      fixture.world.kubelet.powerOff('node-1')
      await fixture.minutes(20)
      expect([mended(), await statusOf(fixture)]).toEqual([[], undefined])
    }))
})
