import { clusterId, fenceLabelValue, isFormerKey, rookLabels } from './fence-labels.ts'
import type { LabelledCluster } from './labelled-cluster.ts'
import type { RunningOsds } from './running-osds.ts'
import type { MachineView } from './snapshot.ts'

/** Which clusters have OSDs on a node or a machine, by their places in the list of clusters. What is alike is one object. */
export interface Occupancy {
  readonly runs: readonly number[]
  /** Where an OSD may run; a label that is there stays. */
  readonly unknown: readonly number[]
  /** With an OSD that runs, may run or ran there. */
  readonly concerned: readonly number[]
  /** Labels that a machine should carry. */
  readonly wanted: ReadonlyMap<string, string>
  /** Labels that stay where they are. */
  readonly stays: ReadonlySet<string>
}

const nodeless = 'nodeless'

/** Keeps the occupancies from one time to the next, as long as they mean the same. */
export class Occupancies {
  #stamp = ''
  #osds: readonly RunningOsds[] = []
  #interned = new Map<string, Occupancy>()
  #byNode = new Map<string, Occupancy>()
  #clusters: readonly LabelledCluster[] = []

  update(clusters: readonly LabelledCluster[]): void {
    const stamp = JSON.stringify(clusters.map(meaningOf))
    const isSame = stamp === this.#stamp
    if (isSame && clusters.every(({ osds }, at) => osds === this.#osds[at])) return
    if (!isSame) this.#interned = new Map()
    this.#stamp = stamp
    this.#osds = clusters.map(({ osds }) => osds)
    this.#clusters = clusters
    const signs = new Map<string, string>()
    clusters.forEach(({ osds }, at) => {
      for (const [nodes, sign] of [
        [osds.running, `r${at} `],
        [osds.uncertain, `u${at} `],
        [osds.down, `d${at} `],
      ] as const) {
        for (const node of nodes) signs.set(node, (signs.get(node) ?? '') + sign)
      }
    })
    this.#byNode = new Map()
    for (const [node, sign] of signs) this.#byNode.set(node, this.#occupancy(sign))
  }

  ofNode(name: string): Occupancy {
    return this.#byNode.get(name) ?? this.#occupancy('')
  }

  ofMachine({ nodeName }: MachineView): Occupancy {
    return nodeName === undefined ? this.#occupancy(nodeless) : this.ofNode(nodeName)
  }

  #occupancy(sign: string): Occupancy {
    const known = this.#interned.get(sign)
    if (known !== undefined) return known
    const built = buildOccupancy(sign, this.#clusters)
    this.#interned.set(sign, built)
    return built
  }
}

/** Everything but the nodes that an occupancy is made from. */
function meaningOf(labelled: LabelledCluster) {
  const { key, cluster, osds, unclaimed } = labelled
  const { writesRookLabels } = cluster.settings
  const names = writesRookLabels ? [cluster.name, cluster.namespace] : []
  return [
    clusterId(cluster),
    key,
    ...names,
    osds.unplaced !== undefined,
    unclaimed.length > 0,
    ...selectedStill(labelled),
  ]
}

function buildOccupancy(sign: string, clusters: readonly LabelledCluster[]): Occupancy {
  const signs = new Set(sign.split(' '))
  const runs: number[] = []
  const unknown: number[] = []
  const concerned: number[] = []
  const wanted = new Map<string, string>()
  const stays = new Set<string>()
  clusters.forEach((labelled, at) => {
    const { osds, unclaimed } = labelled
    const isRunning = signs.has(`r${at}`)
    const isUncertain = signs.has(`u${at}`)
    if (isRunning || isUncertain || signs.has(`d${at}`)) concerned.push(at)
    // A machine that lost its node may be the one of a node that no machine has.
    const isUnknown = isUncertain || osds.unplaced !== undefined || (sign === nodeless && unclaimed.length > 0)
    if (!isRunning && !isUnknown) return
    if (isRunning) put(wanted, labelled)
    else for (const key of keysOf(labelled)) stays.add(key)
    for (const key of selectedStill(labelled)) stays.add(key)
    ;(isRunning ? runs : unknown).push(at)
  })
  return { runs, unknown, concerned, wanted, stays }
}

/** Keys that the cluster's machines carried before, and that a budget of it still selects by. */
function selectedStill({ cluster, key, budget, formerBudgets }: LabelledCluster): readonly string[] {
  return [budget, ...formerBudgets].flatMap((seen) => {
    const selected = seen?.labelKey
    return selected !== undefined && selected !== key && isFormerKey(selected, cluster) ? [selected] : []
  })
}

function keysOf({ key, cluster }: LabelledCluster): readonly string[] {
  return cluster.settings.writesRookLabels ? [key, rookLabels.cluster, rookLabels.namespace] : [key]
}

/** Of two clusters that both want Rook's older labels on one machine, the first has them. */
function put(wanted: Map<string, string>, { key, cluster }: LabelledCluster): void {
  wanted.set(key, fenceLabelValue)
  if (!cluster.settings.writesRookLabels || wanted.has(rookLabels.cluster)) return
  wanted.set(rookLabels.cluster, cluster.name)
  wanted.set(rookLabels.namespace, cluster.namespace)
}
