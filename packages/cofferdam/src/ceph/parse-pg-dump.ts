import { isJsonObject } from '@cofferdam/kubernetes/api/json.ts'
import type { PgTable } from '../safety/ceph-map.ts'
import type { Observed } from '../shared/observed.ts'
import { listAt, objectAt, observeShape, unexpected } from './json-shape.ts'
import { createPgColumns } from './pg-columns.ts'

/** Reads `pg dump pgs` and `pg dump pgs_brief` in JSON, bare or in the wrapper of newer releases. */
export function parsePgDump(json: unknown): Observed<PgTable> {
  return observeShape('pg dump', () => {
    if (!isJsonObject(json)) return readRows(listAt(json, 'pg dump'))
    if (json['pg_ready'] === false) unexpected('pg_ready', 'is false: the manager has not heard from all OSDs yet')
    return readRows(listAt(json['pg_stats'], 'pg_stats'))
  })
}

function readRows(rows: readonly unknown[]): PgTable {
  const columns = createPgColumns(rows.length)
  rows.forEach((row, index) => {
    const where = `pg_stats[${index}]`
    const { pgid: id, state, up, acting, reported_epoch: reportedEpoch } = objectAt(row, where)
    columns.add({ id, state, up, acting, reportedEpoch }, where)
  })
  return columns.finish()
}
