import { afterEach, expect, it } from 'vitest'
import { type CephStage, openCephStage } from '../testing/ceph-stage.ts'

let stage: CephStage
afterEach(() => stage.close())

interface Reported {
  readonly pg_map?: { readonly pg_stats?: { state: string }[] }
  readonly pg_stats?: { state: string }[]
  readonly pgmap?: { pgs_by_state: { state_name: string; count: number }[]; readonly num_pgs: number }
}

/** One placement group recovers without end. */
function recoverForEver({ ceph: { commands } }: CephStage): void {
  const run = commands.run.bind(commands)
  const state = 'active+recovering+degraded'
  const changed: typeof run = async (command, options) => {
    const answer = await run(command, options)
    if (command.prefix !== 'pg dump' && command.prefix !== 'status') return answer
    const json = JSON.parse(answer.out) as Reported
    const [first] = json.pg_map?.pg_stats ?? json.pg_stats ?? []
    if (first !== undefined) first.state = state
    if (json.pgmap !== undefined) {
      const clean = { state_name: 'active+clean', count: json.pgmap.num_pgs - 1 }
      json.pgmap.pgs_by_state = [clean, { state_name: state, count: 1 }]
    }
    return { ...answer, out: JSON.stringify(json) }
  }
  Object.assign(commands, { run: changed })
}

it('a recovery that takes hours is asked about less and less often, and everything stays held meanwhile', async () => {
  stage = await openCephStage()
  recoverForEver(stage)
  stage.operate()
  await stage.seconds(60)
  expect(await stage.budgets()).toEqual(['rook-ceph-osd: 0 of all'])
  stage.asked.length = 0
  await stage.seconds(60)
  const atFirst = stage.asked.filter((prefix) => prefix === 'status').length
  expect(atFirst).toBeGreaterThan(5)

  await stage.seconds(1_200)
  stage.asked.length = 0
  await stage.seconds(3_600)
  expect(stage.asked.filter((prefix) => prefix === 'status').length).toBeLessThanOrEqual(61)
  expect(await stage.budgets()).toEqual(['rook-ceph-osd: 0 of all'])
})
