// node plan-rounds.mjs FOLDER: in which rounds all OSDs can be restarted, from what five commands of ceph printed.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { cephFiles, parseCeph } from 'cofferdam/domain'

const folder = process.argv[2] ?? '.'
const answers = Object.keys(cephFiles).map((file) => [file, JSON.parse(readFileSync(join(folder, file), 'utf8'))])
const ceph = parseCeph(Object.fromEntries(answers))
if (!ceph.known) throw new Error(ceph.why)

const { rounds, lowerBound, blocked } = ceph.value.planRounds({ maxInParallel: '15%' })
for (const [at, osds] of rounds.entries()) console.log(`round ${at + 1}: osd ${osds.join(' ')}`)
console.log(`lower bound: ${lowerBound.rounds} rounds`)
for (const { osd, why } of blocked) console.log(`osd.${osd} must not stop now: ${why}`)
