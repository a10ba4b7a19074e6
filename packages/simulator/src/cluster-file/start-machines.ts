import { hasReason } from '@cofferdam/kubernetes/api/api-error.ts'
import {
  machineDisruptionBudgets,
  medik8sLeaseNamespace,
  openshiftMachineNamespace,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import { cephClusters } from '@cofferdam/kubernetes/api/kinds/rook.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import { customResourceDefinitions, namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import type { Clock } from '@cofferdam/kubernetes/runtime/clock.ts'
import type { Random } from '@cofferdam/kubernetes/runtime/random.ts'
import { openTools } from '../world/actor.ts'
import { createBudgetHealthCheck, type Remediator } from '../world/machines/budget-health-check.ts'
import { type MachineApi, machineKinds } from '../world/machines/machine-kinds.ts'
import type { MachineDrain } from '../world/machines/machines-description.ts'
import { createModernHealthChecks } from '../world/machines/modern-health-checks.ts'
import { createNodeHealthCheck } from '../world/machines/node-health-check.ts'
import { powerCycle } from '../world/machines/power-cycle.ts'
import { createSimulatedMachines } from '../world/machines/simulated-machines.ts'
import type { World } from '../world/start-world.ts'
import { buildHealthCheck } from './build-health-check.ts'
import type { ClusterDescription } from './cluster-file.ts'
import { machineBudgetName } from './cofferdam-words.ts'
import type { MachinesDescription } from './describe-machines.ts'
import { clusterApiDefinitions, nodeHealthCheckDefinition, openshiftMachineDefinitions } from './machine-definitions.ts'

export interface RunningMachines {
  /** What is missing until every node has its machine and storage has its budget, in words. */
  observeMissing(): Promise<string[]>
  stop(): void
}

type CephName = Pick<NonNullable<ClusterDescription['ceph']>, 'namespace' | 'name'>

interface MachinePorts {
  readonly api: KubeApi
  readonly clock: Clock
  readonly random: Random
  readonly world: World
  /** Roles in the namespace of the leases by which node health checks keep each other away, and who has them. */
  readonly leaseAccess: readonly KubeObject[]
  /** The disks of one node are in another now. */
  readonly onDisksMoved?: (from: string, to: string) => void
  /** How machines are drained that are deleted; absent: they are not. */
  readonly drain?: MachineDrain
}

/** The machines behind the nodes, and who takes sick ones away. Assumes: the nodes and the operator's kinds are there. */
export async function startMachines(
  machines: MachinesDescription,
  ceph: ClusterDescription['ceph'],
  ports: MachinePorts,
): Promise<RunningMachines> {
  const { api, clock, random, world, leaseAccess, onDisksMoved, drain } = ports
  await seedKinds(api, machines, leaseAccess)
  if (machines.api === 'none') return startNodesAlone(machines, ceph, ports)
  const kinds = machineKinds(machines.api)
  const { namespace } = kinds
  if (ceph !== undefined) await placeBudget(api, ceph, namespace)
  const tools = { api, clock, random, views: world.views }
  const simulated = createSimulatedMachines(
    { ...tools, kubelet: world.kubelet, ...(onDisksMoved && { onDisksMoved }) },
    {
      api: machines.api,
      clusterName: machines.clusterName,
      sets: machines.sets.map((set) => ({ ...set, volumes: machines.volumes })),
      timings: machines.pace,
      ...(drain && { drain }),
    },
  )
  await simulated.seeded
  const check = buildHealthCheck(machines, namespace)
  if (check !== undefined) await createOnce(api, check.type, check.object)
  const remediator = startRemediator(
    { ...machines, api: machines.api },
    {
      ...tools,
      powerCycle: (node) => simulated.controls.powerCycle(node),
    },
  )
  const wanted = machines.sets.reduce((count, { nodes }) => count + nodes.length, 0)
  return {
    async observeMissing() {
      const { items } = await api.list(kinds.machines, { namespace })
      const placed = items.filter(({ status }) => status?.nodeRef?.name !== undefined).length
      const missing = placed < wanted ? [`machines (${placed} of ${wanted})`] : []
      return ceph === undefined ? missing : [...missing, ...(await missingBudget(api, ceph))]
    },
    stop() {
      remediator?.stop()
      simulated.stop()
    },
  }
}

/** Nodes without machines behind them, and who reboots sick ones. */
async function startNodesAlone(
  machines: MachinesDescription,
  ceph: ClusterDescription['ceph'],
  { api, clock, random, world }: MachinePorts,
): Promise<RunningMachines> {
  const ports = { api, clock, random, views: world.views }
  const check = buildHealthCheck({ ...machines, api: 'openshift' }, '')
  if (check !== undefined) await createOnce(api, check.type, check.object)
  const tools = openTools('power-switch', ports)
  const downSeconds = machines.pace.rebootSeconds
  const remediator =
    check &&
    createNodeHealthCheck({
      ...ports,
      powerCycle: (node) => powerCycle(tools, world.kubelet, { node, downSeconds, isKept: () => true }),
    })
  return {
    observeMissing: async () => (ceph === undefined ? [] : missingBudget(api, ceph)),
    stop() {
      remediator?.stop()
      tools.stop()
    },
  }
}

/** Budgets select machines of their own namespace, and OpenShift's is not there on other clusters. */
async function placeBudget(api: KubeApi, ceph: CephName, machineDisruptionBudgetNamespace: string): Promise<void> {
  if (machineDisruptionBudgetNamespace === openshiftMachineNamespace) return
  const body = { spec: { disruptionManagement: { machineDisruptionBudgetNamespace } } }
  const { namespace, name } = ceph
  await api.patch(cephClusters, { namespace, name }, { type: 'merge', body }, { fieldManager: 'rook' })
}

async function missingBudget(api: KubeApi, ceph: CephName): Promise<string[]> {
  const name = machineBudgetName(ceph)
  const { items } = await api.list(machineDisruptionBudgets)
  const isThere = items.some(({ metadata, status }) => metadata.name === name && status !== undefined)
  return isThere ? [] : [`machine budget ${name}`]
}

async function seedKinds(
  api: KubeApi,
  { api: kind, healthCheck }: MachinesDescription,
  leaseAccess: readonly KubeObject[],
): Promise<void> {
  const hasNodeChecks = healthCheck?.style === 'node'
  const definitions = [...machineDefinitionsOf(kind), ...(hasNodeChecks ? [nodeHealthCheckDefinition()] : [])]
  for (const definition of definitions) await createOnce(api, customResourceDefinitions, definition)
  if (!hasNodeChecks) return
  await createOnce(api, namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: medik8sLeaseNamespace } })
  for (const object of leaseAccess) await createOnce(api, object.kind === 'Role' ? roles : roleBindings, object)
}

function machineDefinitionsOf(api: MachinesDescription['api']): KubeObject[] {
  if (api === 'none') return []
  return api === 'openshift' ? openshiftMachineDefinitions() : clusterApiDefinitions()
}

function startRemediator(
  { api, healthCheck }: Pick<MachinesDescription, 'healthCheck'> & { readonly api: MachineApi },
  ports: Parameters<typeof createBudgetHealthCheck>[0],
): Remediator | undefined {
  if (healthCheck === undefined) return undefined
  const { style, after, remediation } = healthCheck
  if (style === 'node') return createNodeHealthCheck(ports)
  if (style === 'machine') return createModernHealthChecks(ports, { api, remedy: remediation })
  return createBudgetHealthCheck(ports, { notReadySeconds: after, retrySeconds: 10, remedy: remediation })
}

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: true }
const roles: ResourceType = { ...rbac, plural: 'roles', kind: 'Role' }
const roleBindings: ResourceType = { ...rbac, plural: 'rolebindings', kind: 'RoleBinding' }

async function createOnce<T extends KubeObject>(api: KubeApi, type: ResourceType<T>, object: T): Promise<void> {
  try {
    await api.create(type, object, { fieldManager: 'cofferdam-demo' })
  } catch (error) {
    if (!hasReason(error, 'AlreadyExists')) throw error
  }
}
