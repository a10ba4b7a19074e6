import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { machineDisruptionBudgets } from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { describe, expect, it } from 'vitest'
import { changedApi } from '../testing/scenario.ts'
import { type BudgetHealthCheckOptions, createBudgetHealthCheck } from './budget-health-check.ts'
import { budgetStatus, type MachinesFixture, openMachines, putBudget } from './testing/machines-fixture.ts'

const storage = { storage: 'yes' }

async function withCheck(
  options: BudgetHealthCheckOptions,
  scenario: (fixture: MachinesFixture, fenced: () => string[]) => Promise<void>,
  apiOf: (api: KubeApi) => KubeApi = (api) => api,
) {
  const fixture = await openMachines()
  for (const number of [1, 2, 3]) await fixture.change(`workers-${number}`, { metadata: { labels: storage } })
  const check = createBudgetHealthCheck({ ...fixture.ports, api: apiOf(fixture.api) }, options)
  try {
    await scenario(fixture, () => check.controls.remediated().map(({ node }) => node))
    expect(fixture.failures).toEqual([])
  } finally {
    check.stop()
    fixture.stop()
  }
}

describe('a health check that asks budgets', () => {
  it('takes a machine without a budget after five minutes of silence, not before', () =>
    withCheck({}, async ({ world, seconds, minutes, clock }, fenced) => {
      const offMs = clock.now()
      world.kubelet.powerOff('node-5')
      await minutes(5)
      expect(fenced()).toEqual([])
      await seconds(50)
      expect(fenced()).toEqual(['node-5'])
      expect(clock.now() - offMs).toBeLessThan(7 * 60_000)
    }))

  it('spares a node that is back in time', () =>
    withCheck({}, async ({ world, minutes }, fenced) => {
      world.kubelet.powerOff('node-5')
      await minutes(4)
      world.kubelet.powerOn('node-5')
      await minutes(20)
      expect(fenced()).toEqual([])
    }))

  it('takes one of two when the budget allows one, and books it there', () =>
    withCheck({}, async (fixture, fenced) => {
      await putBudget(fixture, { name: 'ceph', labels: storage, allowed: 1 })
      fixture.world.kubelet.powerOff('node-1')
      fixture.world.kubelet.powerOff('node-2')
      await fixture.minutes(20)
      expect(fenced().length).toBe(1)
      const { allowed, disrupted } = await budgetStatus(fixture, 'ceph')
      expect([allowed, disrupted.length]).toEqual([0, 1])
      expect(await fixture.eventsAbout(fenced()[0] === 'node-1' ? 'workers-2' : 'workers-1')).toEqual([
        expect.stringMatching(
          /^Warning RemediationRestricted x\d+: Not remediated: budget openshift-machine-api\/ceph allows no disruption$/,
        ),
      ])
    }))

  it('takes nothing on a status that is older than the budget', () =>
    withCheck({}, async (fixture, fenced) => {
      await putBudget(fixture, { name: 'ceph', labels: storage, allowed: 1, isCurrent: false })
      fixture.world.kubelet.powerOff('node-1')
      await fixture.minutes(20)
      expect(fenced()).toEqual([])
    }))

  it('asks again every minute, and goes when the budget allows it', () =>
    withCheck({}, async (fixture, fenced) => {
      await putBudget(fixture, { name: 'ceph', labels: storage, allowed: 0 })
      fixture.world.kubelet.powerOff('node-1')
      await fixture.minutes(20)
      expect(fenced()).toEqual([])
      const key = { namespace: fixture.machines.kinds.namespace, name: 'ceph' }
      const body = { status: { disruptionsAllowed: 1 } }
      await fixture.api.patch(machineDisruptionBudgets, key, { type: 'merge', body }, { subresource: 'status' })
      await fixture.seconds(61)
      expect(fenced()).toEqual(['node-1'])
    }))

  it('needs every budget of a machine to agree, and leaves nothing booked when one does not', () =>
    withCheck({}, async (fixture, fenced) => {
      await putBudget(fixture, { name: 'a-ceph', labels: storage, allowed: 1 })
      await putBudget(fixture, { name: 'b-ceph', labels: storage, allowed: 0 })
      fixture.world.kubelet.powerOff('node-1')
      await fixture.minutes(10)
      expect(fenced()).toEqual([])
      expect(await budgetStatus(fixture, 'a-ceph')).toEqual({ allowed: 1, disrupted: [] })
      const key = { namespace: fixture.machines.kinds.namespace, name: 'b-ceph' }
      const body = { status: { disruptionsAllowed: 1 } }
      await fixture.api.patch(machineDisruptionBudgets, key, { type: 'merge', body }, { subresource: 'status' })
      await fixture.minutes(2)
      expect(fenced()).toEqual(['node-1'])
      expect(await budgetStatus(fixture, 'a-ceph')).toEqual({ allowed: 0, disrupted: ['workers-1'] })
      expect(await budgetStatus(fixture, 'b-ceph')).toEqual({ allowed: 0, disrupted: ['workers-1'] })
    }))

  it('of the old kind refuses a machine with two budgets, whatever they allow', () =>
    withCheck({ severalBudgets: 'refuse' }, async (fixture, fenced) => {
      await putBudget(fixture, { name: 'a-ceph', labels: storage, allowed: 1 })
      await putBudget(fixture, { name: 'b-ceph', labels: storage, allowed: 1 })
      fixture.world.kubelet.powerOff('node-1')
      await fixture.minutes(20)
      expect(fenced()).toEqual([])
    }))

  it('gives back what it booked when the second budget changes its mind in between', async () => {
    let isCrossed = false
    /** Just before the second booking somebody takes the last disruption. */
    const crossing = (api: KubeApi): KubeApi =>
      changedApi(api, {
        async update<T extends KubeObject>(...args: Parameters<typeof api.update<T>>): Promise<T> {
          const [, object, options] = args
          if (object.metadata.name === 'b-ceph' && options?.subresource === 'status' && !isCrossed) {
            isCrossed = true
            const key = { namespace: object.metadata.namespace as string, name: 'b-ceph' }
            const body = { status: { disruptionsAllowed: 0 } }
            await api.patch(machineDisruptionBudgets, key, { type: 'merge', body }, { subresource: 'status' })
          }
          return api.update<T>(...args)
        },
      })
    await withCheck(
      {},
      async (fixture, fenced) => {
        await putBudget(fixture, { name: 'a-ceph', labels: storage, allowed: 1 })
        await putBudget(fixture, { name: 'b-ceph', labels: storage, allowed: 1 })
        fixture.world.kubelet.powerOff('node-1')
        await fixture.minutes(10)
        expect([isCrossed, fenced()]).toEqual([true, []])
        expect(await budgetStatus(fixture, 'a-ceph')).toEqual({ allowed: 1, disrupted: [] })
      },
      crossing,
    )
  })

  it('books a machine once although the first delete fails', async () => {
    let isFirst = true
    const failing = (api: KubeApi): KubeApi =>
      changedApi(api, {
        delete(...args) {
          if (!isFirst) return api.delete(...args)
          isFirst = false
          return Promise.reject(new ApiError('ServiceUnavailable', 'not now'))
        },
      })
    const fixture = await openMachines()
    await fixture.change('workers-1', { metadata: { labels: storage } })
    const check = createBudgetHealthCheck({ ...fixture.ports, api: failing(fixture.api) })
    try {
      await putBudget(fixture, { name: 'ceph', labels: storage, allowed: 1 })
      fixture.world.kubelet.powerOff('node-1')
      await fixture.minutes(10)
      expect(check.controls.remediated().map(({ node }) => node)).toEqual(['node-1'])
      expect(await budgetStatus(fixture, 'ceph')).toEqual({ allowed: 0, disrupted: ['workers-1'] })
      expect(fixture.failures.map(({ actor }) => actor)).toEqual(['machine-health-check'])
    } finally {
      check.stop()
      fixture.stop()
    }
  })

  it('that reboots leaves the Machine where it is, and does it once', () =>
    withCheck({ remedy: 'reboot' }, async (fixture, fenced) => {
      fixture.world.kubelet.powerOff('node-1')
      await fixture.minutes(30)
      expect(fenced()).toEqual(['node-1'])
      expect(await fixture.machineLines()).toContain('workers-1 Running node-1')
      expect(await fixture.nodeLines()).toContain('node-1 True a')
    }))

  it('that nobody runs takes nothing, until somebody does', async () => {
    const fixture = await openMachines()
    const check = createBudgetHealthCheck(fixture.ports, { isListening: false })
    try {
      fixture.world.kubelet.powerOff('node-1')
      await fixture.minutes(20)
      expect(check.controls.remediated()).toEqual([])
      check.controls.setListening(true)
      await fixture.seconds(1)
      expect(check.controls.remediated().map(({ node }) => node)).toEqual(['node-1'])
    } finally {
      check.stop()
      fixture.stop()
    }
  })
})
