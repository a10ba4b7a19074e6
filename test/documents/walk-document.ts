import { setTimeout as sleep } from 'node:timers/promises'
import { isAsPromised, normalizeOutput } from './compare-output.ts'
import { type Exception, isFor } from './exceptions.ts'
import type { DocumentedBlock, DocumentedCommand } from './parse-document.ts'
import type { Shell } from './shell.ts'

/** What only reads is asked again until it prints what is promised, as people do: a cluster takes its time. */
const reads =
  /^(kubectl( -n \S+)? (get|describe)|(node bin\/cofferdam\.js|cofferdam) (doctor|explain|get|plan|status|version))\b/
const isReadFor = { ms: 240_000, everyMs: 1_000 }
const endsWithinSeconds = 150

export interface Walking {
  readonly document: string
  readonly shell: Shell
  readonly exceptions: readonly Exception[]
  readonly log: (line: string) => void
}

/** Runs every command of the blocks, in their order. Throws at the first that does something else than the document says. */
export async function walkDocument(blocks: readonly DocumentedBlock[], walking: Walking): Promise<void> {
  for (const block of blocks) {
    const mayAsk = block.commands.every(({ text }) => reads.test(instead(text, walking)?.command ?? text))
    const deadline = Date.now() + (mayAsk ? isReadFor.ms : 0)
    for (;;) {
      const problem = await walkBlock(block, walking)
      if (problem === undefined) break
      if (Date.now() >= deadline) throw new Error(problem)
      await sleep(isReadFor.everyMs)
    }
  }
}

/** Returns in which way the block does not do what the document says. */
async function walkBlock(block: DocumentedBlock, walking: Walking): Promise<string | undefined> {
  let printed = ''
  for (const command of block.commands) {
    const { text, problem } = await walkCommand(command, walking)
    if (problem !== undefined) return problem
    printed += text.endsWith('\n') || text === '' ? text : `${text}\n`
  }
  const { promised } = block
  if (promised === undefined || isAsPromised(printed, promised)) return undefined
  const where = `${walking.document}:${block.commands[0]?.line}`
  return [
    `${where}: the output is not what the document promises.`,
    `--- promised\n${normalizeOutput(promised)}`,
    `--- printed\n${normalizeOutput(printed)}`,
    `--- printed, as it was\n${printed}`,
  ].join('\n')
}

async function walkCommand(
  command: DocumentedCommand,
  walking: Walking,
): Promise<{ readonly text: string; readonly problem?: string }> {
  const where = `${walking.document}:${command.line}: ${command.text.split('\n')[0]}`
  const exception = exceptionOf(command.text, walking)
  if (exception !== undefined && exception.instead === undefined) {
    walking.log(`skip  ${where}: ${exception.why}`)
    return { text: '' }
  }
  const run = exception?.instead ?? { command: command.text, exitCode: command.exitCode }
  const began = Date.now()
  const { text, exitCode } = await walking.shell
    .run(run.command, { withinSeconds: endsWithinSeconds })
    .catch((error: Error) => Promise.reject(new Error(`${where}: ${error.message}`)))
  if (exitCode !== run.exitCode) {
    return { text, problem: `${where}: exit code ${exitCode}, where ${run.exitCode} is promised. It printed:\n${text}` }
  }
  walking.log(`ok    ${where} (${Math.round((Date.now() - began) / 1_000)} s)`)
  return { text }
}

function instead(text: string, walking: Walking) {
  return exceptionOf(text, walking)?.instead
}

function exceptionOf(text: string, { document, exceptions }: Walking): Exception | undefined {
  return exceptions.find((exception) => isFor(exception, { document, text }))
}
