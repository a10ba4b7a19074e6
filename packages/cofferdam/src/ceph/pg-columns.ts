import type { PgTable } from '../safety/ceph-map.ts'
import { countAt, listAt, textAt, unexpected } from './json-shape.ts'

/** One PG as it was printed; each field is checked as it is added. */
export interface PrintedPg {
  readonly id: unknown
  readonly state: unknown
  readonly up: unknown
  readonly acting: unknown
  /** Undefined where the dump does not say. */
  readonly reportedEpoch: unknown
}

export interface PgColumns {
  add(pg: PrintedPg, where: string): void
  finish(): PgTable
}

/**
 * Collects PGs into columns.
 *
 * Fails closed: a PG whose report names no epoch gets epoch 0, which is older than any change.
 */
export function createPgColumns(maxRows: number): PgColumns {
  const poolIds = new Int32Array(maxRows)
  const pgNumbers = new Int32Array(maxRows)
  const states = new Uint16Array(maxRows)
  const reportedEpochs = new Int32Array(maxRows)
  const acting = createMemberColumn(maxRows)
  const up = createMemberColumn(maxRows)
  const stateNumbers = new Map<string, number>()
  let count = 0
  return {
    add(pg, where) {
      const id = readPgId(pg.id, `${where}.pgid`)
      poolIds[count] = id.pool
      pgNumbers[count] = id.number
      states[count] = numberState(stateNumbers, textAt(pg.state, `${where}.state`))
      reportedEpochs[count] = readEpoch(pg.reportedEpoch, `${where}.reported_epoch`)
      acting.add(pg.acting, `${where}.acting`)
      up.add(pg.up, `${where}.up`)
      count += 1
    },
    finish: () => ({
      count,
      poolIds: poolIds.slice(0, count),
      pgNumbers: pgNumbers.slice(0, count),
      states: states.slice(0, count),
      stateNames: [...stateNumbers.keys()],
      offsets: acting.offsets(),
      acting: acting.members(),
      upOffsets: up.offsets(),
      up: up.members(),
      reportedEpochs: reportedEpochs.slice(0, count),
    }),
  }
}

function readPgId(value: unknown, where: string): { readonly pool: number; readonly number: number } {
  const id = textAt(value, where)
  // Both numbers must fit their columns: eight digits, and seven hexadecimal ones.
  if (!/^\d{1,8}\.[0-9a-f]{1,7}$/.test(id)) unexpected(where, 'is not of the form 1.1b')
  const dot = id.indexOf('.')
  return { pool: Number(id.slice(0, dot)), number: Number.parseInt(id.slice(dot + 1), 16) }
}

function readEpoch(value: unknown, where: string): number {
  const epoch = value === undefined ? 0 : countAt(value, where)
  return epoch <= 0x7fffffff ? epoch : unexpected(where, 'is larger than any epoch')
}

function numberState(numbers: Map<string, number>, state: string): number {
  const present = numbers.get(state)
  if (present !== undefined) return present
  if (numbers.size > 0xffff) unexpected('pg_stats', 'has more different states than can be counted')
  numbers.set(state, numbers.size)
  return numbers.size - 1
}

/** Lists of OSDs behind one another, and where each begins. */
function createMemberColumn(maxRows: number) {
  const offsets = new Int32Array(maxRows + 1)
  let members = new Int32Array(maxRows * 3)
  let length = 0
  let row = 0
  return {
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
    offsets: () => offsets.slice(0, row + 1),
    members: () => members.slice(0, length),
  }
}

function grow(members: Int32Array<ArrayBuffer>, needed: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(Math.max(needed, members.length * 2))
  larger.set(members)
  return larger
}
