import { openshiftMachineNamespace } from '../../api/machines.ts'
import { closestName } from './closest-name.ts'
import type { NodeDescription, Problem } from './expand-nodes.ts'
import type { WrittenHealthCheck, WrittenMachines } from './machines-schema.ts'

/** The machines of a cluster with every place filled in. */
export interface MachinesDescription {
  readonly api: WrittenMachines['api']
  readonly namespace: string
  /** The names of the nodes that have one. */
  readonly nodes: readonly string[]
  readonly healthCheck?: WrittenHealthCheck
  readonly volumes: WrittenMachines['volumes']
}

/** Fills in a `machines` section. Problems are added to the list; the description then means nothing. */
export function describeMachines(
  machines: WrittenMachines,
  nodes: readonly NodeDescription[],
  problems: Problem[],
): MachinesDescription {
  const { api, healthCheck, volumes } = machines
  const known = nodes.map(({ name }) => name)
  for (const [index, name] of (machines.nodes ?? []).entries()) {
    if (known.includes(name)) continue
    const near = closestName(name, known)
    const advice = near === undefined ? '' : `; did you mean "${near}"?`
    problems.push({ path: `machines.nodes[${index}]`, says: `there is no node "${name}"${advice}` })
  }
  if (healthCheck?.style === 'budget' && api !== 'openshift') {
    problems.push({
      path: 'machines.healthCheck.style',
      says: `only health checks of OpenShift ask a machine budget; use machine or node with api ${api}`,
    })
  }
  if (healthCheck?.remediation === 'reboot' && volumes === 'lost') {
    problems.push({
      path: 'machines.volumes',
      says: 'a reboot loses no volumes; use remediation delete, or volumes follow',
    })
  }
  return {
    api,
    namespace: api === 'openshift' ? openshiftMachineNamespace : 'default',
    nodes: machines.nodes ?? known,
    volumes,
    ...(healthCheck === undefined ? {} : { healthCheck }),
  }
}
