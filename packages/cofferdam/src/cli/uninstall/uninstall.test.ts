import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { leases } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { changedApi, openScenario, type Scenario } from '@cofferdam/simulator/world/testing/scenario.ts'
import { expect, it, onTestFinished } from 'vitest'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import { disruptionLedgers, ledgerName } from '../../shared/kinds/disruption-ledger.ts'
import { nodeDisruptions } from '../../shared/kinds/node-disruption.ts'
import { installOperator } from '../demo/install-operator.ts'
import { inProcess, runCommand } from '../testing/run-command.ts'
import { stopOperator } from './stop-operator.ts'
import { createUninstallCommand } from './uninstall.ts'
import type { UninstallResult } from './uninstall-result.ts'

async function openInstalled(): Promise<Scenario> {
  const scenario = openScenario()
  onTestFinished(scenario.stop)
  await installOperator(scenario.server)
  return scenario
}

async function uninstall(scenario: Scenario, ...flags: string[]): Promise<UninstallResult & { readonly code: number }> {
  const { connect } = inProcess(scenario.api)
  const command = createUninstallCommand({ connect, clock: scenario.clock })
  const running = runCommand(command as never, 'uninstall', ...flags, '-o', 'json')
  await scenario.seconds(60)
  const { code, out, err } = await running
  if (out === '') throw new Error(err)
  return { code, ...(JSON.parse(out) as UninstallResult) }
}

it('with --dry-run beside --yes removes nothing: whoever looks twice before he deletes would have deleted', async () => {
  const scenario = await openInstalled()
  expect(await uninstall(scenario, '--yes', '--dry-run')).toMatchObject({ code: 0, outcome: 'planned' })
  expect(await scenario.list(nodeDisruptions)).toEqual([])
  expect(await uninstall(scenario, '--yes')).toMatchObject({ code: 0, outcome: 'done' })
  await expect(scenario.list(nodeDisruptions)).rejects.toThrow()
})

it('is refused while the ledger makes no sense: what an update holds would be taken from it in the middle', async () => {
  const scenario = await openInstalled()
  const { api } = scenario
  const kind = { apiVersion: 'cofferdam.io/v1alpha1', kind: 'DisruptionLedger' }
  const ledger = await api.create(disruptionLedgers, { ...kind, metadata: { name: ledgerName } })
  const held = {
    key: 'storage/rook-ceph/rook-ceph',
    uid: 'ceph',
    scope: 'rack-a',
    requestId: 'update',
    holder: 'osd-update',
  }
  const entry = { ...held, epoch: 7, state: 'Acting', since: '2026-01-01T00:00:00Z' } as const
  const status = { nextEpoch: 1, nextTicket: 1, entries: [entry] } as never
  await api.update(disruptionLedgers, { ...ledger, status }, { subresource: 'status' })
  const { code, outcome, checks } = await uninstall(scenario, '--yes')
  expect({ code, outcome }).toEqual({ code: 3, outcome: 'blocked' })
  expect(checks.filter(({ state }) => state === 'blocked').map(({ what }) => what)).toEqual(['ledger'])
})

it('goes on waiting for the operator where its lease may not be read: one outside of the cluster would write all of it again', async () => {
  const scenario = await openInstalled()
  const { clock, seconds } = scenario
  const get: KubeApi['get'] = async (type, ...rest) => {
    if (type.plural === leases.plural) throw new ApiError('Forbidden', 'leases may not be read')
    return scenario.api.get(type, ...rest)
  }
  const running = stopOperator({
    api: changedApi(scenario.api, { get }),
    clock,
    signal: new AbortController().signal,
    leaseNamespace: operatorAccount.namespace,
    deadlineMs: clock.now() + 5_000,
    progress() {},
  })
  await seconds(10)
  expect(await running).toContain('the operator')
})
