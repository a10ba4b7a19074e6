import { type Exploration, explore } from './explore.ts'
import { exploreFencing } from './fencing/explore-fencing.ts'
import { plantedFencingBugs } from './fencing/planted-fencing-bugs.ts'
import { plantedBugs } from './planted-bugs.ts'
import { fullScenarios } from './stories.ts'

const columns = [
  ['states', 12],
  ['transitions', 12],
  ['depth', 6],
  ['s', 7],
  ['CPU s', 7],
  ['MB', 6],
] as const

let hasFailed = false
console.log(`${columns.map(([name, width]) => name.padStart(width)).join('')}  found  story`)
for (const bounds of fullScenarios) {
  const { told, seconds, cpu } = timed(() => explore(bounds))
  const megabytes = process.memoryUsage().rss / 1e6
  const numbers = [told.states, told.transitions, told.depth, seconds, cpu, megabytes]
  const cells = columns.map(([, width], index) =>
    Math.round(numbers[index] as number)
      .toLocaleString('en')
      .padStart(width),
  )
  console.log(`${cells.join('')}  ${String(told.findings.length).padStart(5)}  ${bounds.name}`)
  hasFailed ||= tell(told) > 0
}
const all = fullScenarios.length
console.log(`\n${all} stories; the most memory at any moment: ${Math.round(process.resourceUsage().maxRSS / 1024)} MB`)

console.log('\nBugs that are planted to see that they are found:')
for (const [name, { bounds, parts }] of Object.entries(plantedBugs)) {
  console.log(`\n${name}`)
  hasFailed ||= tell(explore(bounds, { parts })) === 0
}
for (const [name, { bounds, parts }] of Object.entries(plantedFencingBugs)) {
  const { finding } = exploreFencing(bounds, { parts })
  console.log(`\n${name}\n  ${finding?.what ?? 'nothing'}`)
  hasFailed ||= finding === undefined
}
process.exitCode = hasFailed ? 1 : 0

function timed(run: () => Exploration): { told: Exploration; seconds: number; cpu: number } {
  const [start, before] = [performance.now(), process.cpuUsage()]
  const told = run()
  const { user, system } = process.cpuUsage(before)
  return { told, seconds: (performance.now() - start) / 1000, cpu: (user + system) / 1e6 }
}

function tell({ findings }: Exploration): number {
  for (const { what, trace } of findings) {
    console.log(`  ${what}`)
    for (const [index, line] of trace.entries()) console.log(`  ${String(index + 1).padStart(3)}. ${line}`)
  }
  return findings.length
}
