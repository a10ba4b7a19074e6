import { isJsonObject } from '../api/json.ts'
import type { Observed } from '../domain/observed.ts'
import type { PgTable } from '../domain/safety/ceph-map.ts'
import { countAt, listAt, objectAt, observeShape, textAt, unexpected } from './json-shape.ts'

/**
 * Reads `pg dump pgs` and `pg dump pgs_brief`, bare or in the wrapper of newer releases.
 *
 * Fails closed: a PG whose report names no epoch gets epoch 0, which is older than any change.
 */
export function parsePgDump(json: unknown): Observed<PgTable> {
  return observeShape('pg dump', () => {
    if (!isJsonObject(json)) return buildTable(listAt(json, 'pg dump'))
    if (json['pg_ready'] === false) unexpected('pg_ready', 'is false: the manager has not heard from all OSDs yet')
    return buildTable(listAt(json['pg_stats'], 'pg_stats'))
  })
}

function buildTable(rows: readonly unknown[]): PgTable {
  const count = rows.length
  const poolIds = new Int32Array(count)
  const pgNumbers = new Int32Array(count)
  const states = new Uint16Array(count)
  const reportedEpochs = new Int32Array(count)
  const acting = createMemberColumn(count)
  const up = createMemberColumn(count)
  const stateNumbers = new Map<string, number>()
  for (let row = 0; row < count; row += 1) {
    const where = `pg_stats[${row}]`
    const pg = objectAt(rows[row], where)
    const id = readPgId(pg['pgid'], `${where}.pgid`)
    poolIds[row] = id.pool
    pgNumbers[row] = id.number
    states[row] = numberState(stateNumbers, textAt(pg['state'], `${where}.state`))
    reportedEpochs[row] =
      pg['reported_epoch'] === undefined ? 0 : countAt(pg['reported_epoch'], `${where}.reported_epoch`)
    acting.add(pg['acting'], `${where}.acting`)
    up.add(pg['up'], `${where}.up`)
  }
  return {
    count,
    poolIds,
    pgNumbers,
    states,
    stateNames: [...stateNumbers.keys()],
    offsets: acting.offsets,
    acting: acting.members(),
    upOffsets: up.offsets,
    up: up.members(),
    reportedEpochs,
  }
}

function readPgId(value: unknown, where: string): { readonly pool: number; readonly number: number } {
  const id = textAt(value, where)
  // Both numbers must fit their columns: eight digits, and seven hexadecimal ones.
  if (!/^\d{1,8}\.[0-9a-f]{1,7}$/.test(id)) unexpected(where, 'is not of the form 1.1b')
  const dot = id.indexOf('.')
  return { pool: Number(id.slice(0, dot)), number: Number.parseInt(id.slice(dot + 1), 16) }
}

function numberState(numbers: Map<string, number>, state: string): number {
  const present = numbers.get(state)
  if (present !== undefined) return present
  if (numbers.size > 0xffff) unexpected('pg_stats', 'has more different states than can be told apart')
  numbers.set(state, numbers.size)
  return numbers.size - 1
}

/** Lists of OSDs behind one another, and where each begins. */
function createMemberColumn(rows: number) {
  const offsets = new Int32Array(rows + 1)
  let members = new Int32Array(rows * 3)
  let length = 0
  let row = 0
  return {
    offsets,
    add(value: unknown, where: string): void {
      const osds = listAt(value, where)
      if (length + osds.length > members.length) members = grow(members, length + osds.length)
      for (const osd of osds) {
        const id = countAt(osd, where)
        if (id > 0x7fffffff) unexpected(where, 'names an OSD that cannot be')
        members[length] = id
        length += 1
      }
      row += 1
      offsets[row] = length
    },
    members: () => members.slice(0, length),
  }
}

function grow(members: Int32Array<ArrayBuffer>, needed: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(Math.max(needed, members.length * 2))
  larger.set(members)
  return larger
}
