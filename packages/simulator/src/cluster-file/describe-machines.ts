import { closestName } from '@cofferdam/kubernetes/api/closest-name.ts'
import type { NodeDescription, Problem } from './expand-nodes.ts'
import type { WrittenHealthCheck, WrittenMachines } from './machines-schema.ts'

/** The machines of a cluster with every place filled in. */
export interface MachinesDescription extends Omit<WrittenMachines, 'nodes' | 'healthCheck'> {
  readonly clusterName: string
  /** One set for each role in each zone: replacements stand where the machine before them stood. */
  readonly sets: readonly { readonly name: string; readonly nodes: readonly string[] }[]
  readonly healthCheck?: WrittenHealthCheck & { readonly remediation: 'delete' | 'reboot' }
}

/** Fills in a `machines` section. Problems are added to the list; the description then means nothing. */
export function describeMachines(
  machines: WrittenMachines,
  cluster: { readonly name: string; readonly nodes: readonly NodeDescription[] },
  problems: Problem[],
): MachinesDescription {
  const { nodes: listed, healthCheck, ...rest } = machines
  checkNodes(listed ?? [], cluster.nodes, problems)
  if (healthCheck !== undefined) checkHealthCheck(machines, healthCheck, problems)
  const isNone = machines.api === 'none'
  const hosts = isNone
    ? []
    : listed === undefined
      ? cluster.nodes
      : cluster.nodes.filter(({ name }) => listed.includes(name))
  return {
    ...rest,
    clusterName: cluster.name,
    sets: machineSets(cluster.name, hosts),
    ...(healthCheck && { healthCheck: { ...healthCheck, remediation: remediationOf(healthCheck) } }),
  }
}

function checkNodes(listed: readonly string[], nodes: readonly NodeDescription[], problems: Problem[]): void {
  const known = nodes.map(({ name }) => name)
  for (const [index, name] of listed.entries()) {
    if (known.includes(name)) continue
    const near = closestName(name, known)
    const advice = near === undefined ? '' : `; did you mean "${near}"?`
    problems.push({ path: `machines.nodes[${index}]`, says: `there is no node "${name}"${advice}` })
  }
}

function checkHealthCheck({ api, volumes }: WrittenMachines, check: WrittenHealthCheck, problems: Problem[]): void {
  const { style, remediation } = check
  if (api === 'none' && style !== 'node') {
    problems.push({
      path: 'machines.healthCheck.style',
      says: 'with api none there are no machines to take away; use node',
    })
    return
  }
  if (style === 'budget' && api !== 'openshift') {
    problems.push({
      path: 'machines.healthCheck.style',
      says: `only health checks of OpenShift ask a machine budget; use machine or node with api ${api}`,
    })
  }
  if (style === 'node' && remediation === 'delete') {
    problems.push({
      path: 'machines.healthCheck.remediation',
      says: 'a health check of style node reboots; use reboot, or another style',
    })
  }
  if (remediationOf(check) === 'reboot' && volumes === 'lost') {
    problems.push({
      path: 'machines.volumes',
      says: 'a reboot loses no volumes; use remediation delete, or volumes follow',
    })
  }
}

function remediationOf({ style, remediation }: WrittenHealthCheck): 'delete' | 'reboot' {
  return remediation ?? (style === 'node' ? 'reboot' : 'delete')
}

function machineSets(clusterName: string, nodes: readonly NodeDescription[]): MachinesDescription['sets'] {
  const sets = new Map<string, string[]>()
  for (const { name: node, roles, zone } of nodes) {
    const name = `${clusterName}-${roles[0] ?? 'node'}-${zone}`.toLowerCase().replaceAll(/[^a-z0-9-]/g, '-')
    sets.set(name, [...(sets.get(name) ?? []), node])
  }
  return [...sets].map(([name, members]) => ({ name, nodes: members }))
}
