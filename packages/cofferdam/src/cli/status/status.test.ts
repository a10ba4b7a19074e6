import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import type { Lease } from '@cofferdam/kubernetes/api/core.ts'
import { deployments, leases, namespaces, nodes, podDisruptionBudgets } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { evictPod } from '@cofferdam/kubernetes/client/kube-api.ts'
import {
  budget,
  changedApi,
  deployment,
  openWorld,
  type Scenario,
} from '@cofferdam/simulator/world/testing/scenario.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { inProcess, runCommand } from '../testing/run-command.ts'
import { createStatusCommand } from './status.ts'
import type { Status } from './status-observe.ts'

let scenario: Scenario
beforeEach(async () => {
  scenario = await openWorld({ nodeCount: 3 })
  await scenario.api.create(deployments, deployment('web', { replicas: 2 }))
  await scenario.api.create(podDisruptionBudgets, budget('web', { maxUnavailable: 1 }))
  await scenario.seconds(30)
})
afterEach(() => scenario.stop())

async function status(argv: readonly string[] = [], api: KubeApi = scenario.api) {
  const { connect, links } = inProcess(api)
  const result = await runCommand(createStatusCommand({ connect, clock: scenario.clock }), 'status', ...argv)
  expect(links).toEqual({ opened: 1, closed: 1 })
  return result
}

const lead = async (renewTime: string) => {
  const namespace = 'cofferdam-system'
  await scenario.api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const lease: Lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace, name: 'cofferdam-operator' },
    spec: { holderIdentity: 'pod-1', leaseDurationSeconds: 15, acquireTime: '2026-01-01T00:00:00.000000Z', renewTime },
  }
  await scenario.api.create(leases, lease)
}

describe('status', () => {
  it('of a calm cluster is five short lines', async () => {
    await lead('2026-01-01T00:00:30.000000Z')
    expect(await status()).toEqual({
      code: 0,
      err: '',
      out: [
        'Cluster   in-process, 3 nodes, 2 pods',
        'Operator  pod-1 leads for 32s',
        'Nodes     3 ready',
        'Budgets   1, all allow an eviction',
        '',
      ].join('\n'),
    })
  })

  it('of a cluster where things wait names each of them', async () => {
    const [first] = await scenario.podsOf('web')
    await scenario.api.patch(
      nodes,
      { name: 'node-1' },
      { type: 'merge', body: { spec: { unschedulable: true } } },
      { fieldManager: 'kured' },
    )
    await evictPod(scenario.api, { namespace: 'default', name: first?.metadata.name as string })
    const { code, out } = await status()
    expect(code).toBe(0)
    expect(out).toContain('Operator  no operator is running\n')
    expect(out).toContain('Nodes     3 ready, 1 ')
    expect(out).toContain('Budgets   1, 1 allow no eviction\n')
    expect(out).toMatch(/\nNODE {4}STATE\nnode-1 {2}Ready, cordoned by kured for 0s, /)
    expect(out).toMatch(/\nBUDGET +REASON +FOR +WHY +HELD BY\ndefault\/web +BudgetExhausted +0s +.*pod\/default\/web/)
  })

  it('says when the last leader has not been heard of', async () => {
    await lead('2026-01-01T00:00:05.000000Z')
    expect((await status()).out).toContain(
      'Operator  no operator is running; pod-1 led last, and has not renewed its lease for 27s\n',
    )
  })

  it('goes on without what may not be read, and says so', async () => {
    const api = changedApi(scenario.api, {
      get: (type) => Promise.reject(new ApiError('Forbidden', `${type.plural} is forbidden`)),
    })
    const { code, out } = await status([], api)
    expect(code).toBe(0)
    expect(out).toContain('Operator  unknown: its lease may not be read\n')
    expect(out).toContain('not seen: lease cofferdam-system/cofferdam-operator: leases is forbidden')
  })

  it('of one namespace leaves the others out', async () => {
    expect((await status(['-n', 'elsewhere'])).out).toContain('Cluster   in-process, 3 nodes, 0 pods\n')
  })

  it('as data has the documented fields and no others', async () => {
    await lead('2026-01-01T00:00:30.000000Z')
    const told = JSON.parse((await status(['-o', 'json'])).out) as Status
    expect(told).toEqual({
      observedAt: '2026-01-01T00:00:32Z',
      server: 'in-process',
      operator: {
        isRunning: true,
        leader: 'pod-1',
        since: '2026-01-01T00:00:00.000000Z',
        renewedAt: '2026-01-01T00:00:30.000000Z',
      },
      nodes: ['node-1', 'node-2', 'node-3'].map((name) => ({
        name,
        isReady: true,
        isCordoned: false,
        drain: 'NotCordoned',
      })),
      pods: 2,
      budgets: { total: 1, blocked: [] },
      storage: [],
      drains: [],
      locks: [],
      warnings: [],
      notSeen: [],
    })
  })
})
