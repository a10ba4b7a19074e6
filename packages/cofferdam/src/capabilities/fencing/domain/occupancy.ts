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
  /** Whether any of those runs or may run. */
  readonly isInUse: boolean
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

  /** Nodes whose occupancy is another than before; undefined: all may be. */
  update(clusters: readonly LabelledCluster[]): ReadonlySet<string> | undefined {
    const stamp = JSON.stringify(clusters.map(meaningOf))
    const isSame = stamp === this.#stamp
    const before = isSame ? this.#osds : undefined
    if (!isSame) this.#interned = new Map()
    this.#stamp = stamp
    this.#osds = clusters.map(({ osds }) => osds)
    this.#clusters = clusters
    if (before === undefined) {
      this.#readAll()
      return undefined
    }
    const changed = new Set<string>()
    this.#osds.forEach((osds, at) => {
      const known = before[at] as RunningOsds
      if (osds !== known) for (const node of differences(known, osds)) changed.add(node)
    })
    for (const node of changed) {
      const fingerprint = this.#osds.map((osds, at) => fingerprintOf(osds, at, node)).join('')
      this.#byNode.set(node, this.#occupancy(fingerprint))
    }
    return changed
  }

  #readAll(): void {
    const fingerprints = new Map<string, string>()
    this.#osds.forEach((osds, at) => {
      for (const nodes of [osds.running, osds.uncertain, osds.down, osds.released]) {
        for (const node of nodes) fingerprints.set(node, (fingerprints.get(node) ?? '') + fingerprintOf(osds, at, node))
      }
    })
    this.#byNode = new Map()
    for (const [node, fingerprint] of fingerprints) this.#byNode.set(node, this.#occupancy(fingerprint))
  }

  ofNode(name: string): Occupancy {
    return this.#byNode.get(name) ?? this.#occupancy('')
  }

  ofMachine({ nodeName }: MachineView): Occupancy {
    return nodeName === undefined ? this.#occupancy(nodeless) : this.ofNode(nodeName)
  }

  #occupancy(fingerprint: string): Occupancy {
    const known = this.#interned.get(fingerprint)
    if (known !== undefined) return known
    const built = buildOccupancy(fingerprint, this.#clusters)
    this.#interned.set(fingerprint, built)
    return built
  }
}

function fingerprintOf({ running, uncertain, down, released }: RunningOsds, at: number, node: string): string {
  if (running.has(node)) return `r${at} `
  if (uncertain.has(node)) return `u${at} `
  if (released.has(node)) return `q${at} `
  return down.has(node) ? `d${at} ` : ''
}

function differences(before: RunningOsds, now: RunningOsds): Set<string> {
  const found = new Set<string>()
  for (const kind of ['running', 'uncertain', 'down', 'released'] as const) {
    for (const node of now[kind]) if (!before[kind].has(node)) found.add(node)
    for (const node of before[kind]) if (!now[kind].has(node)) found.add(node)
  }
  return found
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

function buildOccupancy(fingerprint: string, clusters: readonly LabelledCluster[]): Occupancy {
  const fingerprints = new Set(fingerprint.split(' '))
  const runs: number[] = []
  const unknown: number[] = []
  const concerned: number[] = []
  const wanted = new Map<string, string>()
  const stays = new Set<string>()
  clusters.forEach((labelled, at) => {
    const { osds, unclaimed } = labelled
    const isRunning = fingerprints.has(`r${at}`)
    const isUncertain = fingerprints.has(`u${at}`)
    const isReleased = fingerprints.has(`q${at}`)
    if (isRunning || isUncertain || isReleased || fingerprints.has(`d${at}`)) concerned.push(at)
    if (isReleased) return
    // A machine that lost its node may be the one of a node that no machine has.
    const isUnknown = isUncertain || osds.unplaced !== undefined || (fingerprint === nodeless && unclaimed.length > 0)
    if (!isRunning && !isUnknown) return
    if (isRunning) put(wanted, labelled)
    else for (const key of keysOf(labelled)) stays.add(key)
    for (const key of selectedStill(labelled)) stays.add(key)
    ;(isRunning ? runs : unknown).push(at)
  })
  const isInUse = concerned.some((at) => runs.includes(at) || unknown.includes(at))
  return { runs, unknown, concerned, isInUse, wanted, stays }
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
