import { closestName } from '@cofferdam/kubernetes/api/closest-name.ts'
import { isNodeName, type NodeGroup, type NodeTaint, type WrittenCluster } from './cluster-schema.ts'

export interface NodeDescription {
  readonly name: string
  readonly zone: string
  readonly rack?: string
  readonly roles: readonly string[]
  readonly labels: Readonly<Record<string, string>>
  readonly taints: readonly NodeTaint[]
  readonly capacity: { readonly cpu: string; readonly memory: string; readonly pods: string }
}

/** Something in the file that cannot stay as it is, and where. */
export interface Problem {
  readonly path: string
  readonly says: string
}

/** Turns node groups into nodes, one per zone and number. Problems are added to the list; the nodes then mean nothing. */
export function expandNodes({ zones, nodes }: WrittenCluster, problems: Problem[]): NodeDescription[] {
  const expanded: NodeDescription[] = []
  const taken = new Map<string, string>()
  for (const [index, group] of nodes.entries()) {
    const path = `nodes[${index}]`
    for (const node of expandGroup(group, { path, zones, problems })) {
      const before = taken.get(node.name)
      if (!isNodeName(node.name)) {
        problems.push({ path: `${path}.name`, says: `"${node.name}" is not a node name` })
      } else if (before !== undefined) {
        const advice = before === path ? '; put {n} or {zone} into the name' : ''
        problems.push({
          path: `${path}.name`,
          says: `"${node.name}" is already the name of a node of ${before}${advice}`,
        })
        break
      }
      taken.set(node.name, path)
      expanded.push(node)
    }
  }
  return expanded
}

interface Surroundings {
  readonly path: string
  readonly zones: WrittenCluster['zones']
  readonly problems: Problem[]
}

function* expandGroup(group: NodeGroup, { path, zones, problems }: Surroundings): Generator<NodeDescription> {
  if (group.zone !== undefined && group.zones !== undefined) {
    problems.push({ path, says: 'has both zone and zones; keep one of them' })
    return
  }
  const wanted = group.zone === undefined ? (group.zones ?? zones.map((zone) => zone.name)) : [group.zone]
  let number = 0
  for (const [at, zoneName] of wanted.entries()) {
    const zone = zones.find((candidate) => candidate.name === zoneName)
    if (zone === undefined) {
      const where = group.zone === undefined ? `${path}.zones[${at}]` : `${path}.zone`
      problems.push({
        path: where,
        says: notOneOf(
          'zone',
          zoneName,
          zones.map(({ name }) => name),
        ),
      })
      continue
    }
    if (group.rack !== undefined && !zone.racks.includes(group.rack)) {
      problems.push({ path: `${path}.rack`, says: notOneOf(`rack of zone ${zone.name}`, group.rack, zone.racks) })
      continue
    }
    if (group.name.includes('{zone}')) number = 0
    for (let made = 0; made < group.count; made += 1) {
      number += 1
      const rack = group.rack ?? zone.racks[made % Math.max(1, zone.racks.length)]
      yield buildNode(group, { zone: zone.name, number, ...(rack === undefined ? {} : { rack }) })
    }
  }
}

function buildNode(
  group: NodeGroup,
  { zone, rack, number }: { readonly zone: string; readonly rack?: string; readonly number: number },
): NodeDescription {
  return {
    name: group.name
      .replaceAll('{zone}', zone)
      .replaceAll('{rack}', rack ?? '')
      .replaceAll('{n}', String(number)),
    zone,
    ...(rack === undefined ? {} : { rack }),
    roles: group.roles,
    labels: group.labels,
    taints: group.taints,
    capacity: {
      cpu: group.capacity.cpu ?? '8',
      memory: group.capacity.memory ?? '32Gi',
      pods: String(group.capacity.pods ?? 110),
    },
  }
}

function notOneOf(what: string, given: string, known: readonly string[]): string {
  const near = closestName(given, known)
  if (known.length === 0) return `there is no ${what}, so not "${given}" either`
  return `"${given}" is not a ${what}${near === undefined ? `; known: ${known.join(', ')}` : `; did you mean "${near}"?`}`
}
