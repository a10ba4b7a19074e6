import { cases, largeHost, mapOf } from './osd-update/example-cases.ts'
import { measureDecisions } from './osd-update/measure-decisions.ts'
import { measureMakespan } from './osd-update/measure-makespan.ts'
import { measureNoOp } from './osd-update/measure-no-op.ts'
import { measureCase, measureLonger, measureRecheck, planned } from './osd-update/measure-plans.ts'
import { measureRandomClusters } from './osd-update/measure-random-clusters.ts'
import { printRows, type Row } from './report/rows.ts'

const rows: Row[] = []
for (const one of cases) rows.push(await measureCase(one))
const map = mapOf(largeHost)
const { plan } = await planned(map)
rows.push(await measureLonger(map), ...measureMakespan(map, plan), await measureRecheck(map, plan))
rows.push(...(await measureDecisions(map)), ...(await measureNoOp()))
rows.push(await measureRandomClusters())
printRows(rows)
