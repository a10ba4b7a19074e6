import { stripVTControlCharacters } from 'node:util'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { type Clock, sleep } from '@cofferdam/kubernetes/runtime/clock.ts'
import { type CliCommand, type CommandGroup, exitCodes } from '../../command.ts'
import { runProgram } from '../../program.ts'
import type { Terminal } from '../../terminal.ts'
import { recordingTerminal } from './recording-terminal.ts'
import type { ChangeStep, Chapter, CommandStep, TourResult, TourStep } from './tour-step.ts'

export interface TourPorts {
  readonly api: KubeApi
  readonly clock: Clock
  readonly terminal: Terminal
  readonly signal: AbortSignal
  readonly kubeconfigPath: string
  readonly commands: readonly (CliCommand | CommandGroup)[]
  /** How this program is called from here. */
  readonly calledAs: string
  /** Resolves when the user wants the next step. */
  readonly untilNext: () => Promise<void>
}

const askEveryMs = 1_000

/**
 * Walks through chapters, each of which is made when it begins; ends at the first step that does not come to what it promised.
 * Undefined: the user ended it.
 */
export async function walkChapters(
  chapters: readonly (() => Promise<Chapter>)[],
  ports: TourPorts,
): Promise<TourResult | undefined> {
  const { terminal, signal } = ports
  for (const [index, begin] of chapters.entries()) {
    const { title, steps } = await begin()
    terminal.print(`\n${terminal.paint('bold', `${index + 1}. ${title}`)}`)
    for (const step of steps) {
      if (!('isUrgent' in step && step.isUrgent)) await ports.untilNext()
      if (signal.aborted) return undefined
      const failure = await takeStep(step, ports)
      if (signal.aborted) return undefined
      if (failure !== undefined) return { chapters: index, failure: `${title}: ${failure}` }
    }
  }
  return { chapters: chapters.length }
}

async function takeStep(step: TourStep, ports: TourPorts): Promise<string | undefined> {
  const { terminal, calledAs } = ports
  const line = 'kubectl' in step ? step.kubectl : `${calledAs} ${step.argv.join(' ')}`
  terminal.print(`\n${step.says}`)
  terminal.print(`  ${terminal.paint('bold', `$ ${line}`)}`)
  return 'kubectl' in step ? applyChange(step, ports) : runCommand(step, ports)
}

async function applyChange({ change }: ChangeStep, { api, terminal }: TourPorts): Promise<undefined> {
  await api.patch(change.type, change.key, { type: 'merge', body: change.body })
  terminal.print(`${change.type.kind.toLowerCase()}/${change.key.name} changed`)
}

async function runCommand(step: CommandStep, ports: TourPorts): Promise<string | undefined> {
  const { clock, terminal, signal } = ports
  const { expects, withinSeconds } = step
  const deadline = clock.now() + (withinSeconds ?? 0) * 1_000
  for (;;) {
    // What is run once is shown as it happens; of what is asked again, the last answer.
    const recorded = recordingTerminal(terminal, { isShown: withinSeconds === undefined })
    const exitCode = await runProgram({
      argv: [...step.argv, '--kubeconfig', ports.kubeconfigPath],
      commands: ports.commands,
      version: '',
      calledAs: ports.calledAs,
      terminal: recorded.terminal,
      signal,
      debug: false,
    })
    if (signal.aborted) return undefined
    const isMet = exitCode === expects.exitCode && expects.prints.test(stripVTControlCharacters(recorded.text()))
    if (!isMet && clock.now() < deadline) {
      terminal.progress(`Waiting until ${expects.says}…`)
      await sleep(clock, askEveryMs, signal)
      continue
    }
    if (withinSeconds !== undefined) terminal.print(recorded.text().trimEnd())
    if (exitCode !== exitCodes.done) terminal.print(terminal.paint('dim', `exit code ${exitCode}`))
    if (!isMet) return `expected that ${expects.says}, and that did not come about`
    terminal.print(terminal.paint('green', `As expected: ${expects.says}.`))
    return undefined
  }
}
