import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { nodes } from '@cofferdam/kubernetes/api/resources.ts'
import { seededRandom } from '@cofferdam/kubernetes/runtime/random.ts'
import { createExplainCommand } from '@cofferdam/product/cli/explain/explain.ts'
import { rehearseNodes } from '@cofferdam/product/cli/observe/rehearse-nodes.ts'
import { createStatusCommand } from '@cofferdam/product/cli/status/status.ts'
import { inProcess, runCommand } from '@cofferdam/product/cli/testing/run-command.ts'
import { createUninstallCommand } from '@cofferdam/product/cli/uninstall/uninstall.ts'
import { buildDeployFiles } from '@cofferdam/product/deploy/deploy-files.ts'
import { operatorAccount } from '@cofferdam/product/deploy/operator-manifests.ts'
import { observeVerdicts } from '@cofferdam/product/observe/verdicts.ts'
import { capabilities, shownOf } from '@cofferdam/product/operator/capabilities.ts'
import { rightsOf } from '@cofferdam/product/operator/controller-names.ts'
import { createMetrics } from '@cofferdam/product/operator/metrics.ts'
import { startOperator } from '@cofferdam/product/operator/operator.ts'
import { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { typeOfObject } from '@cofferdam/simulator/api-server/type-of-object.ts'
import { clusterAdmin, serviceAccountUser } from '@cofferdam/simulator/api-server/user-info.ts'
import { VirtualClock } from '@cofferdam/simulator/harness/virtual-clock.ts'
import { loadAll } from 'js-yaml'
import { expect, it } from 'vitest'
import { nightLightLabel } from './toy-capability/controller.ts'
import { nightLight } from './toy-capability/index.ts'

const silent = { info() {}, warn() {}, error() {}, debug() {} } as never

it('a capability that is one folder and one line gets its Role and its metrics, is in status, explain and on the page, runs with just its rights, and is uninstalled without a trace', async () => {
  const list = [...capabilities, nightLight]
  const files = buildDeployFiles({ version: 'test', permissions: rightsOf(list) })
  const manifests = Object.entries(files)
    .filter(([path]) => path === 'access.yaml' || path.startsWith('crds/'))
    .flatMap(([, text]) => loadAll(text) as KubeObject[])
  expect(manifests.map(({ metadata }) => metadata.name)).toContain('cofferdam:night-light')

  const clock = new VirtualClock()
  const server = new ApiServer({ clock, random: seededRandom(1) })
  server.start()
  const admin = server.as(clusterAdmin)
  for (const object of manifests) await admin.create(typeOfObject(server.catalogue, object) as ResourceType, object)
  await admin.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker-a1' } })
  const metrics = createMetrics(list)
  const operator = startOperator({
    api: server.as(serviceAccountUser(operatorAccount.namespace, operatorAccount.name)),
    clock,
    random: seededRandom(2),
    log: silent,
    metrics,
    dryRun: false,
    controllers: ['night-light'],
  })
  await clock.advance(10_000)
  expect((await admin.get(nodes, { name: 'worker-a1' })).metadata.labels?.[nightLightLabel]).toBe('on')
  expect(await metrics.registry.metrics()).toMatch(/^cofferdam_night_light_labels_total [1-9]/mu)
  const ports = { connect: inProcess(admin).connect, clock, capabilities: list }
  const status = await runCommand(createStatusCommand(ports), 'status')
  expect(status.out).toMatch(/^NightLight {2}1 of 1 nodes are lit$/mu)
  const asData = await runCommand(createStatusCommand(ports), 'status', '-o', 'json')
  expect(JSON.parse(asData.out)).toMatchObject({ nightLight: [{ node: 'worker-a1', isOn: true }] })
  const explained = await runCommand(createExplainCommand(ports), 'explain', 'node/worker-a1')
  expect(explained.out).toMatch(/^ {2}nightlight {0,2}lit$/mu)
  const { signal } = new AbortController()
  const { panels } = await observeVerdicts(
    { api: admin, clock, leaseNamespace: 'x', signal, rehearse: rehearseNodes },
    shownOf(list),
  )
  expect(panels.get('nightLight')).toEqual({ title: 'NightLight', groups: [['1 of 1 nodes are lit']] })
  expect(operator.health.map(({ check }) => check())).toEqual([{ ok: true }, { ok: true }])
  const stopped = operator.stop()
  await clock.advance(30_000)
  await stopped
  const uninstalled = runCommand(createUninstallCommand(ports), 'uninstall', '--yes')
  await clock.advance(30_000)
  expect(await uninstalled).toMatchObject({ code: 0, out: expect.stringContaining(nightLightLabel) })
  expect((await admin.get(nodes, { name: 'worker-a1' })).metadata.labels).toBeUndefined()
  server.stop()
})
