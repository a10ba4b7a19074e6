import { planRounds } from '@cofferdam/product/capabilities/osd-update/domain/plan-rounds.ts'
import type { CephMap, PgTable } from '@cofferdam/product/safety/ceph-map.ts'
import { exampleMap } from '@cofferdam/product/safety/testing/example-map.ts'
import type { Structure } from './every-structure.ts'
import { countsOf, membersOf } from './fewest-by-force.ts'

export interface StructurePlan {
  readonly rounds: number
  readonly lowerBound: number
  /** Whether every OSD is in one round, and no placement group loses more than it can spare. */
  readonly isSound: boolean
}

/** Plans the cluster of the structure as any other: its placement groups are of a pool each, on hosts of two and three OSDs. */
export function planOf(units: number): (structure: Structure) => StructurePlan {
  const targets = Array.from({ length: units }, (_, unit) => unit)
  const empty = emptyMap(units)
  const counts = countsOf(units)
  return (structure) => {
    const members = membersOf(structure)
    const map = mapOf(empty, structure, members)
    const { rounds, lowerBound, blocked } = planRounds({ map, targets, maxParallel: units })
    let seen = 0
    let isSound = blocked.length === 0
    for (const round of rounds) {
      let set = 0
      for (const id of round) set |= 1 << id
      if ((seen & set) !== 0 || counts[set] !== round.length) isSound = false
      seen |= set
      for (let thing = 0; thing < members.length; thing += 1) {
        const lost = counts[set & (members[thing] as number)] as number
        if (lost > (structure.slack[thing] as number)) isSound = false
      }
    }
    return { rounds: rounds.length, lowerBound: lowerBound.rounds, isSound: isSound && seen === 2 ** units - 1 }
  }
}

export function mapOfStructure(structure: Structure): CephMap {
  return mapOf(emptyMap(structure.patterns.length), structure, membersOf(structure))
}

function emptyMap(units: number): CephMap {
  const ids = Array.from({ length: units }, (_, unit) => unit)
  const hosts = { 'host-a': ids.filter((id) => id % 3 === 0), 'host-b': ids.filter((id) => id % 3 !== 0) }
  return exampleMap({ hosts })
}

function mapOf(empty: CephMap, { patterns, slack }: Structure, members: readonly number[]): CephMap {
  const offsets = new Int32Array(slack.length + 1)
  const row: number[] = []
  for (const [thing, its] of members.entries()) {
    for (let unit = 0; unit < patterns.length; unit += 1) if ((its >> unit) & 1) row.push(unit)
    offsets[thing + 1] = row.length
  }
  const acting = Int32Array.from(row)
  const pgs: PgTable = {
    count: slack.length,
    poolIds: Int32Array.from(slack, (_, thing) => thing + 1),
    pgNumbers: new Int32Array(slack.length),
    states: new Uint16Array(slack.length),
    stateNames: ['active+clean'],
    offsets,
    acting,
    upOffsets: offsets,
    up: acting,
    reportedEpochs: new Int32Array(slack.length).fill(empty.epoch),
  }
  const pools = slack.map((spare, thing): CephMap['pools'][number] => {
    const size = (offsets[thing + 1] as number) - (offsets[thing] as number)
    const id = thing + 1
    return { id, name: `pool-${id}`, kind: 'replicated', size, minSize: size - spare, crushRuleId: 0 }
  })
  return { ...empty, pools, pgs }
}
