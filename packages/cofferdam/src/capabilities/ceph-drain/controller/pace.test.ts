import { afterEach, expect, it } from 'vitest'
import { type CephFixture, openCephFixture } from '../testing/ceph-fixture.ts'

let fixture: CephFixture
afterEach(() => fixture.close())

interface Reported {
  readonly pg_map?: { readonly pg_stats?: { state: string }[] }
  readonly pg_stats?: { state: string }[]
  readonly pgmap?: { pgs_by_state: { state_name: string; count: number }[]; readonly num_pgs: number }
}

/** One placement group recovers without end. */
function recoverForEver({ ceph: { commands } }: CephFixture): void {
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
  fixture = await openCephFixture()
  recoverForEver(fixture)
  fixture.operate()
  await fixture.seconds(60)
  expect(await fixture.budgets()).toEqual(['rook-ceph-osd: 0 of all'])
  fixture.asked.length = 0
  await fixture.seconds(60)
  const atFirst = fixture.asked.filter((prefix) => prefix === 'status').length
  expect(atFirst).toBeGreaterThan(5)

  await fixture.seconds(1_200)
  fixture.asked.length = 0
  await fixture.seconds(3_600)
  expect(fixture.asked.filter((prefix) => prefix === 'status').length).toBeLessThanOrEqual(61)
  expect(await fixture.budgets()).toEqual(['rook-ceph-osd: 0 of all'])
})
