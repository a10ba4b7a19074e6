import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Lab, openLab } from './lab.ts'
import { startRookDisruption } from './rook/start-rook-disruption.ts'
import { type RookOsdLoop, startRookOsdLoop } from './rook/start-rook-osd-loop.ts'
import { cephImage, rookOsds, type UpdateStory, updateStory } from './rook/update-story.ts'

const everyOsd = Array.from({ length: 12 }, (_, id) => id)
const [byRook, paced, held] = ['v19.2.4', 'v19.2.5', 'v19.2.6'].map(cephImage) as [string, string, string]
/** `COFFERDAM_LAB_ROUNDS=3`: with what Rook's label does and does not do, step by step. */
const isLong = Number(process.env['COFFERDAM_LAB_ROUNDS'] ?? '1') >= 3

let lab: Lab
let osds: ReturnType<typeof rookOsds>
let loop: RookOsdLoop
beforeAll(async () => {
  lab = await openLab('rook-osds')
  osds = rookOsds(lab)
  await lab.until('all OSDs are seen', () => osds.ids().join() === everyOsd.join())
})
afterAll(async () => {
  await loop?.stop()
  await lab?.close()
})

const stories = new Map<string, UpdateStory>()
const passesEnded = () => loop.passes().filter(({ seconds }) => seconds !== undefined).length

it("Rook alone updates all OSDs after a change of the image, rack by rack as Ceph's answer to one OSD has it", async () => {
  await osds.want(byRook)
  const story = await updateStory(lab, byRook, async () => {
    loop = await startRookOsdLoop(lab)
    return loop
  })
  stories.set('Rook alone', story)
  expect(story.rounds.flat().sort((a, b) => a - b)).toEqual(everyOsd)
  expect(story.faults).toEqual([])
  await lab.until('the pass has ended', () => passesEnded() === 1)
  expect(loop.passes().map(({ error }) => error)).toEqual([undefined])
}, 360_000)

it('paced by Cofferdam, Rook updates them in no more rounds, and no placement group falls below its floor', async () => {
  await startRookDisruption(lab)
  await lab.installOperator({ besideRook: true })
  // Only Rook's OSD loop runs here: mons and mgrs stay as they are.
  await annotate({ updates: 'pace', 'update-max-in-parallel': '100%', 'update-mons-first': 'false' })
  await lab.until('every OSD is held', () => osds.labelled().join() === everyOsd.join())
  const before = loop.passes().length
  const story = await updateStory(
    lab,
    paced,
    async () => {
      await osds.want(paced)
      return loop
    },
    420,
  )
  stories.set('paced by Cofferdam', story)
  expect(story.rounds.flat().sort((a, b) => a - b)).toEqual(everyOsd)
  expect({ faults: story.faults, below: story.below }).toEqual({ faults: [], below: [] })
  expect(story.rounds.length).toBeLessThanOrEqual(stories.get('Rook alone')?.rounds.length ?? 0)
  expect(
    loop
      .passes()
      .slice(before)
      .flatMap(({ error }) => error ?? []),
  ).toEqual([])

  lab.chapter('Every OSD is held again, until updates are not paced any more')
  await lab.until('every OSD is held again', () => osds.labelled().join() === everyOsd.join())
  await annotate({ updates: 'plan' })
  await lab.until('no OSD is held', () => osds.labelled().length === 0)
}, 720_000)

it.runIf(isLong)(
  'OSDs with the label are left as they are, and those without it are updated in the pass that is triggered next',
  async () => {
    lab.chapter('All OSDs are labelled, then the image changes')
    await osds.hold(everyOsd)
    await osds.want(held)
    await lab.until('a pass with the new image has ended', () => passOf(held)?.seconds !== undefined, 120)
    expect({ updated: osds.withImage(held), labelled: osds.labelled() }).toEqual({ updated: [], labelled: everyOsd })

    lab.chapter('The label is taken off one rack')
    const free = osds.inRack('rack-y')
    await osds.release(free)
    const before = loop.passes().length
    await lab.seconds(5)
    expect(loop.passes().length).toBe(before)
    await loop.triggerPass()
    await lab.until('that rack is updated', () => osds.withImage(held).join() === free.join(), 120)
    await lab.until('the pass has ended', () => passesEnded() === loop.passes().length, 120)
    expect(osds.labelled()).toEqual(everyOsd.filter((osd) => !free.includes(osd)))
    await lab.ceph.untilClean()
  },
  360_000,
)

it('the table of both', () => {
  const row = (what: string, show: (story: UpdateStory) => string) =>
    `| ${[what, ...Array.from(stories.values(), show)].join(' | ')} |`
  const table = [
    `| ${['npm run test:lab -- rook-osds', ...stories.keys()].join(' | ')} |`,
    `|${'---|'.repeat(stories.size + 1)}`,
    row('rounds', ({ rounds }) => `${rounds.length}: ${rounds.map((round) => round.join(' ')).join(' / ')}`),
    row('until every OSD was updated', ({ seconds }) => `${seconds.toFixed(0)} s`),
    row('longest stall of a client', ({ longestStallMs }) => `${longestStallMs.toFixed(0)} ms`),
    row('operations of the client, faults', ({ operations, faults }) => `${operations}, ${faults.length}`),
    row('placement groups seen below their floor', ({ below, looks }) => `${below.length} in ${looks} snapshots`),
    row('most OSDs down in one snapshot', ({ mostDown }) => String(mostDown)),
  ].join('\n')
  lab.journal.tell('measured', table)
  console.log(`\n${table}\n`)
  expect(stories.size).toBeGreaterThan(0)
})

function annotate(notes: Readonly<Record<string, string>>) {
  const words = Object.entries(notes).map(([note, value]) => `cofferdam.io/${note}=${value}`)
  return lab.kubectl('annotate', 'cephcluster', 'rook-ceph', '-n', lab.namespace, '--overwrite', ...words)
}

function passOf(image: string) {
  return loop.passes().findLast((pass) => pass.image === image)
}
