import { checkClasses, checkMode, checkRoom, checkSettings, checkVolumes } from './check-longhorn.ts'
import type { App } from './cluster-schema.ts'
import type { NodeDescription, Problem } from './expand-nodes.ts'
import { checkMounts, claimOf, type VolumeClaim } from './longhorn-claims.ts'
import type { WrittenLonghorn, WrittenVolume } from './longhorn-schema.ts'
import { notANode } from './not-a-node.ts'

export interface LonghornVolumePlan extends WrittenVolume {
  /** Undefined: no workload uses it. */
  readonly claim?: VolumeClaim
}

/** A Longhorn with every place filled in: what its objects and its simulated parts are made from. */
export interface LonghornClusterDescription extends Omit<WrittenLonghorn, 'nodes' | 'volumes' | 'settings'> {
  readonly nodes: readonly string[]
  readonly volumes: readonly LonghornVolumePlan[]
  /** As texts, the drain policy among them. */
  readonly settings: Readonly<Record<string, string>>
}

interface Surroundings {
  readonly nodes: readonly NodeDescription[]
  readonly apps: readonly App[]
}

/** Fills in the places of a `longhorn` section. Problems are added to the list; the description then means nothing. */
export function describeLonghorn(
  longhorn: WrittenLonghorn,
  { nodes, apps }: Surroundings,
  problems: Problem[],
): LonghornClusterDescription {
  const hosts = longhornHosts(longhorn, nodes, problems)
  checkMode(longhorn, problems)
  checkSettings(longhorn, problems)
  checkClasses(longhorn, problems)
  checkVolumes(longhorn, hosts, problems)
  checkRoom(longhorn, hosts.length, problems)

  const volumes = longhorn.volumes.map((volume, index): LonghornVolumePlan => {
    const claim = claimOf(longhorn.volumes, { index, apps, problems })
    return claim === undefined ? volume : { ...volume, claim }
  })
  checkMounts(volumes, apps, problems)
  const written = Object.entries(longhorn.settings).map(([name, value]) => [name, String(value)] as const)
  return {
    ...longhorn,
    nodes: hosts,
    volumes,
    settings: {
      // Nodes come up one after the other; volumes would begin with too few copies, and rebuild for a while.
      'allow-volume-creation-with-degraded-availability': 'false',
      ...Object.fromEntries(written),
      'node-drain-policy': longhorn.drainPolicy,
    },
  }
}

function longhornHosts(
  { nodes: wanted }: WrittenLonghorn,
  nodes: readonly NodeDescription[],
  problems: Problem[],
): readonly string[] {
  const usable = nodes.filter(({ taints }) => !taints.some(({ effect }) => effect !== 'PreferNoSchedule'))
  const usableNames = usable.map(({ name }) => name)
  if (wanted === undefined) {
    if (usable.length === 0) {
      problems.push({ path: 'longhorn', says: 'every node has a taint, so Longhorn has none; add one without a taint' })
    }
    return usableNames
  }
  return wanted.flatMap((name, index) => {
    const path = `longhorn.nodes[${index}]`
    if (!nodes.some((node) => node.name === name)) {
      const known = nodes.map((node) => node.name)
      problems.push({ path, says: notANode(name, known) })
    } else if (!usableNames.includes(name)) {
      problems.push({ path, says: `"${name}" has a taint that keeps Longhorn away; leave it out` })
    } else if (wanted.indexOf(name) !== index) {
      problems.push({ path, says: `"${name}" is named twice; disks.perNode says how many disks it has` })
      return []
    }
    return name
  })
}
