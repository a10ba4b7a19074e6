import type { Observed } from '../shared/observed.ts'
import { countAt, listAt, objectAt, observeShape, textAt, unexpected } from './json-shape.ts'

/** Names of monitors: all that the map has, and those that vote together now. */
export interface MonQuorum {
  readonly mons: readonly string[]
  readonly inQuorum: readonly string[]
}

/** Reads `quorum_status`. */
export function parseQuorum(json: unknown): Observed<MonQuorum> {
  return observeShape('quorum_status', () => {
    const status = objectAt(json, 'quorum_status')
    const mons = listAt(objectAt(status['monmap'], 'monmap')['mons'], 'monmap.mons').map((value, index) => {
      const where = `monmap.mons[${index}]`
      const mon = objectAt(value, where)
      const rank = mon['rank'] === undefined ? index : countAt(mon['rank'], `${where}.rank`)
      return { name: textAt(mon['name'], `${where}.name`), rank }
    })
    const nameByRank = new Map(mons.map(({ name, rank }) => [rank, name]))
    return {
      mons: mons.map(({ name }) => name),
      inQuorum: listAt(status['quorum'], 'quorum').map((value, index) => {
        const rank = countAt(value, `quorum[${index}]`)
        return nameByRank.get(rank) ?? unexpected(`quorum[${index}]`, `is rank ${rank}, which the monmap does not have`)
      }),
    }
  })
}
