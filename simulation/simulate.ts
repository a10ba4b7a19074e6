import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { drawStory } from './draw/draw-story.ts'
import { createInOrder } from './in-order.ts'
import { type Journal, openJournal } from './journal.ts'
import { parseArguments, type SimulateArguments } from './parse-arguments.ts'
import { type Outcome, runStory } from './run-story.ts'
import { shrinkStory } from './shrink-story.ts'
import type { Story } from './story.ts'

/** What a process says of one seed. */
interface Report extends Omit<Outcome, 'trace'> {
  readonly cpuMs: number
  /** Of the shortest story that was found, where a promise was broken; of the whole one with `--trace`. */
  readonly trace?: readonly string[]
  /** What was left of the deeds of a broken story. */
  readonly deeds?: readonly string[]
}

/** What a process is started with that plays seeds for another. */
const childFlag = '--child'
/** A run that nobody watches says so often how far it is. */
const longRun = 5_000
const isChild = process.argv.includes(childFlag)
const args = parseArguments(
  process.argv.slice(2).filter((each) => each !== childFlag),
  availableParallelism(),
)
if (typeof args === 'string') {
  console.log(args)
  process.exit(args.startsWith('simulate:') ? 2 : 0)
}
if (isChild) playForParent(args)
else {
  const program = readProgram()
  const { journal: file, isShort, twice } = args
  const journal = file === undefined ? undefined : openJournal<Report>(file, { program, isShort, twice })
  if (typeof journal === 'string') {
    console.log(journal)
    process.exit(2)
  }
  console.log(`program ${program.slice(0, 16)}, Node.js ${process.versions.node}`)
  process.exitCode = (await playAll(args, journal)) ? 0 : 1
  journal?.close()
}

/** Another program would tell other stories: a run that is made in parts, on several machines, is one run while this is the same. */
function readProgram(): string {
  return createHash('sha256')
    .update(readFileSync(fileURLToPath(import.meta.url)))
    .digest('hex')
}

/** Plays each seed that it is sent, until it is let go. */
function playForParent(given: SimulateArguments): void {
  // Whoever ends a run signals all of its processes. It is the parent's to end it, with a last line.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {})
  // Refusals are part of every story, and who asks for no trace reads no stack of them.
  if (!given.trace) Error.stackTraceLimit = 0
  process.on('message', (seed: number) => {
    void playSeed(seed, given).then((report) => process.send?.(report))
  })
}

async function playSeed(seed: number, { trace, twice, shrinks, isShort }: SimulateArguments): Promise<Report> {
  const story = drawStory(seed, { isShort })
  const before = process.cpuUsage()
  const { trace: told, ...outcome } = await play(story)
  const { user, system } = process.cpuUsage(before)
  const violations = [...outcome.violations]
  if (twice && (await play(story)).hash !== outcome.hash)
    violations.push({ rule: 'R5', sentence: 'the same seed told two stories', second: 0 })
  const [first] = violations
  const shown = first !== undefined && shrinks && first.rule !== 'R5' ? await shorten(story, first.rule) : undefined
  return {
    ...outcome,
    violations,
    cpuMs: (user + system) / 1_000,
    ...(first !== undefined || trace ? { trace: shown?.trace ?? told, deeds: shown?.deeds ?? [] } : {}),
  }
}

async function play(story: Story): Promise<Outcome> {
  try {
    return await runStory(story)
  } catch (error) {
    const sentence = `the simulation itself failed: ${(error as Error).stack ?? String(error)}`
    const nothing = { faults: 0, writes: 0, virtualMs: 0, waits: 0 }
    return { seed: story.seed, violations: [{ rule: 'ERROR', sentence, second: 0 }], hash: '', trace: [], ...nothing }
  }
}

async function shorten(story: Story, rule: string) {
  const shortest = await shrinkStory(story, rule, runStory).catch(() => story)
  const { trace } = await runStory(shortest).catch(() => ({ trace: [] }))
  const deeds = [...shortest.work, ...shortest.faults].sort((a, b) => a.atMs - b.atMs)
  return { trace, deeds: deeds.map(({ kind, atMs }) => `t+${Math.round(atMs / 1_000)} ${kind}`) }
}

async function playAll(given: SimulateArguments, journal: Journal<Report> | undefined): Promise<boolean> {
  const reports: Report[] = []
  const print = createInOrder<Report>(given.firstSeed, (report) => printReport(report, given))
  const count = (report: Report) => {
    reports.push(report)
    print.add(report.seed, report)
  }
  const seeds = Array.from({ length: given.seeds }, (_, index) => given.firstSeed + index)
  const missing = seeds.filter((seed) => journal?.noted.has(seed) !== true)
  for (const seed of seeds) {
    const report = journal?.noted.get(seed)
    if (report !== undefined) count(report)
  }
  if (reports.length > 0) console.log(`from the journal: ${lastLine(reports)}`)
  const toPlay = missing.values()
  let isEnded = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      isEnded = true
    })
  const children = Array.from({ length: given.processes }, () => {
    const child = fork(fileURLToPath(import.meta.url), [...process.argv.slice(2), childFlag])
    const handOut = () => {
      const { value: seed } = isEnded ? { value: undefined } : toPlay.next()
      if (seed === undefined) child.disconnect()
      else child.send(seed)
    }
    child.on('message', (report: Report) => {
      journal?.note(report)
      count(report)
      if (process.stderr.isTTY) process.stderr.write(`\r${reports.length} of ${given.seeds} seeds `)
      else if (reports.length % longRun === 0) console.log(`so far: ${lastLine(reports)}`)
      handOut()
    })
    handOut()
    return new Promise<number>((resolve) => child.on('exit', (code) => resolve(code ?? 1)))
  })
  const codes = await Promise.all(children)
  print.end()
  if (process.stderr.isTTY) process.stderr.write('\r')
  reports.sort((a, b) => a.seed - b.seed)
  if (given.json !== undefined) writeFileSync(given.json, `${JSON.stringify(reports, null, 1)}\n`)
  if (reports.length < given.seeds) console.log(`ended before ${given.seeds} seeds were played`)
  console.log(lastLine(reports))
  const isWhole = reports.length === given.seeds && codes.every((code) => code === 0)
  return isWhole && reports.every(({ violations }) => violations.length === 0)
}

function printReport({ seed, violations, trace = [], deeds = [], hash }: Report, given: SimulateArguments): void {
  if (violations.length === 0 && !given.trace) return
  console.log(`\nseed ${seed} (${hash})`)
  for (const { rule, sentence, second } of violations) console.log(`  ${rule} at t+${second}: ${sentence}`)
  if (deeds.length > 0) console.log(`  deeds that it takes:\n    ${deeds.join('\n    ')}`)
  if (trace.length > 0) console.log(`  ${trace.join('\n  ')}`)
  if (violations.length > 0)
    console.log(`  npm run simulate -- --first-seed ${seed} --seeds 1${given.isShort ? ' --short' : ''} --trace`)
}

function lastLine(reports: readonly Report[]): string {
  const sum = (of: (report: Report) => number) => reports.reduce((total, report) => total + of(report), 0)
  const cpu = sum(({ cpuMs }) => cpuMs) / 1_000
  return [
    `${reports.length} seeds, ${sum(({ violations }) => violations.length)} violations`,
    `${sum(({ faults }) => faults)} faults`,
    `${sum(({ writes }) => writes)} writes`,
    `${sum(({ waits }) => waits)} requests left waiting for a named reason`,
    `${Math.round(sum(({ virtualMs }) => virtualMs) / 3_600_000)} virtual hours`,
    `${cpu.toFixed(1)} CPU seconds`,
    `${(reports.length / Math.max(cpu, 0.001)).toFixed(2)} stories per CPU second`,
  ].join(', ')
}
