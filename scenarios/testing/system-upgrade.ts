import { readFileSync } from 'node:fs'
import type { Pod } from '@cofferdam/kubernetes/api/core.ts'
import { type UpgradePlan, upgradePlans } from '@cofferdam/kubernetes/api/kinds/system-upgrade.ts'
import { conditionOf, type KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { customResourceDefinitions, namespaces, nodes, pods } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { createDrainCommand } from '@cofferdam/product/cli/drain/drain.ts'
import { inProcess, runUntil } from '@cofferdam/product/cli/testing/run-command.ts'
import { type NodeDisruption, nodeDisruptions } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import type { ApiServer } from '@cofferdam/simulator/api-server/api-server.ts'
import { typeOfObject } from '@cofferdam/simulator/api-server/type-of-object.ts'
import { serviceAccountUser } from '@cofferdam/simulator/api-server/user-info.ts'
import { upgradePlanDefinition } from '@cofferdam/simulator/cluster-file/system-upgrade-definitions.ts'
import { startSystemUpgrade } from '@cofferdam/simulator/world/tools/system-upgrade.ts'
import { type UpgradeRun, upgradePods } from '@cofferdam/simulator/world/tools/upgrade-pods.ts'
import { loadAll } from 'js-yaml'
import { type LockFixture, openLockFixture, type StagedOperator } from './lock-fixture.ts'

const example = new URL('../../examples/system-upgrade-plan.yaml', import.meta.url)

/** The objects of examples/system-upgrade-plan.yaml, which users are given. */
function exampleObjects(): readonly KubeObject[] {
  return loadAll(readFileSync(example, 'utf8')) as KubeObject[]
}

export function examplePlan(change: Partial<UpgradePlan['spec']> = {}): UpgradePlan {
  const plan = exampleObjects().find(({ kind }) => kind === upgradePlans.kind) as UpgradePlan
  return { ...plan, spec: { ...plan.spec, ...change } }
}

/** The kind and the namespace of the controller, and what the example grants. */
async function installSystemUpgrade(server: Pick<ApiServer, 'catalogue'>, api: KubeApi): Promise<void> {
  await api.create(customResourceDefinitions, upgradePlanDefinition())
  await api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'system-upgrade' } })
  for (const object of exampleObjects()) {
    const type = object.kind === upgradePlans.kind ? undefined : typeOfObject(server.catalogue, object)
    if (type !== undefined) await api.create(type, object)
  }
}

/** The container `prepare` of the example: the real command, with the rights of the ServiceAccount of the Plan. */
function prepareWith(server: Pick<ApiServer, 'as'>, clock: Clock) {
  const api = server.as(serviceAccountUser('system-upgrade', 'system-upgrade'))
  return async ({ args, signal }: UpgradeRun): Promise<number> => {
    const ports = { connect: inProcess(api).connect, clock, requester: () => 'nobody' }
    const [name = '', ...argv] = args
    return (await runUntil(signal, createDrainCommand(ports) as never, name, ...argv)).code
  }
}

export type Upgrade = (run: UpgradeRun, stage: UpgradeStage) => Promise<number>

export interface UpgradeStage extends LockFixture {
  readonly operator: StagedOperator
  isComplete(): boolean
  /** How many nodes carry the label of the Plan. */
  upgraded(): number
  requests(): readonly NodeDisruption[]
  podsOfUpgrade(): readonly Pod[]
}

/** The controller with a Plan, on three nodes with an application that stays and one that leaves. */
export async function openUpgrade(plan: UpgradePlan, upgrade: Upgrade): Promise<UpgradeStage> {
  let prepare = async (_run: UpgradeRun) => 1
  let stage: UpgradeStage | undefined
  const fixture = await openLockFixture({
    runtime: (ports) =>
      upgradePods(ports, { prepare: (run) => prepare(run), upgrade: (run) => upgrade(run, stage as UpgradeStage) }),
  })
  const { api, server, clock, views } = fixture
  prepare = prepareWith(server, clock)
  await installSystemUpgrade(server, api)
  await fixture.addStaying('db')
  await fixture.addLeaving('web', { replicas: 3 })
  startSystemUpgrade({ api, clock, views })
  const all = <T extends KubeObject>(type: ResourceType<T>) => [...views.of(type).values()]
  stage = {
    ...fixture,
    operator: fixture.operate({ isReplaced: true }),
    isComplete: () => all(upgradePlans).some((each) => conditionOf(each, 'Complete')?.status === 'True'),
    upgraded: () => all(nodes).filter(({ metadata }) => metadata.labels?.[label] !== undefined).length,
    requests: () => all(nodeDisruptions),
    podsOfUpgrade: () => all(pods).filter(({ metadata }) => metadata.namespace === 'system-upgrade'),
  }
  await fixture.seconds(10)
  await api.create(upgradePlans, plan)
  return stage
}

const label = 'plan.upgrade.cattle.io/k3s-agents'

/** The k3s process is replaced; what runs on the node runs on. */
export function replaceBinary(seconds: number): Upgrade {
  return async ({ signal }, { clock }) => {
    await sleep(clock, seconds * 1_000, signal)
    return 0
  }
}

/** The machine is rebooted, once; a pod that comes after that finds it done. */
export function rebootOnce(begun: Set<string>): Upgrade {
  return async ({ nodeName, signal }, { clock, world }) => {
    if (begun.has(nodeName)) return 0
    begun.add(nodeName)
    world.kubelet.reboot(nodeName, 60)
    await sleep(clock, 600_000, signal)
    return 1
  }
}
