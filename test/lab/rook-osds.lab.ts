import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Lab, openLab } from './lab.ts'
import { type RookOsdLoop, startRookOsdLoop } from './rook/start-rook-osd-loop.ts'
import { cephImage, rookOsds, type UpdateStory, updateStory } from './rook/update-story.ts'

const everyOsd = Array.from({ length: 12 }, (_, id) => id)
const [byRook, held] = ['v19.2.4', 'v19.2.5'].map(cephImage) as [string, string]

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

it('OSDs with the label are left as they are, and one without it is updated in the pass that is triggered next', async () => {
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
}, 360_000)

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

function passOf(image: string) {
  return loop.passes().findLast((pass) => pass.image === image)
}
