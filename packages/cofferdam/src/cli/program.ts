import { Command, CommanderError, Option } from 'commander'
import { harmlessData } from '../shared/harmless-text.ts'
import type { Paint } from '../shared/paint.ts'
import { asCalled } from './called-as.ts'
import {
  type CliCommand,
  type CommandGroup,
  type Example,
  type ExitCode,
  exitCodes,
  type GlobalFlags,
  type OutputFormat,
} from './command.ts'
import { exitCodeOf, renderError } from './error-text.ts'
import { fromKubectlSpelling } from './kubectl-spelling.ts'
import { parseRequestTimeout } from './parse-duration-flag.ts'
import { renderData } from './render-data.ts'
import type { Terminal } from './terminal.ts'

export interface ProgramOptions {
  /** Without the interpreter and the script: `['demo', '--headless']`. */
  readonly argv: readonly string[]
  readonly commands: readonly (CliCommand | CommandGroup)[]
  readonly version: string
  /** What to type to call this program from here; hints are printed so. `cofferdam` by default. */
  readonly calledAs?: string
  readonly terminal: Terminal
  readonly signal: AbortSignal
  readonly debug: boolean
}

/** Runs one command line to its end and returns its exit code. Never throws, never exits. */
export async function runProgram(given: ProgramOptions): Promise<ExitCode> {
  const options = { ...given, terminal: hintingTerminal(given) }
  const { terminal } = options
  let exitCode: ExitCode = exitCodes.done
  const program = buildProgram(options, (code) => {
    exitCode = code
  })
  try {
    await program.parseAsync(options.argv, { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return isAnswer(error) ? exitCodes.done : exitCodes.usage
    terminal.note(renderError(error, { paint: terminal.paint, withStack: options.debug }))
    return exitCodeOf(error)
  }
}

/** Notes are for people, so their hints are made to work; results are where they are text. */
function hintingTerminal({ terminal, ...options }: ProgramOptions): Terminal {
  const hinting = hintsOf(options)
  return {
    ...terminal,
    note: (text) => terminal.note(hinting(text)),
    progress: (text) => terminal.progress(text === undefined ? undefined : hinting(text)),
  }
}

function hintsOf({ calledAs = 'cofferdam', commands }: Pick<ProgramOptions, 'calledAs' | 'commands'>) {
  const names = commands.map(({ name }) => name)
  return (text: string) => asCalled(text, calledAs, names)
}

/** Help and version come as errors too, since commander knows no other way to stop. */
function isAnswer(error: CommanderError): boolean {
  return error.exitCode === 0
}

/** The command line as commander has it; `end` is called with the exit code of the command that ran. */
export function buildProgram(options: ProgramOptions, end: (code: ExitCode) => void): Command {
  const { terminal, signal } = options
  const hinting = hintsOf(options)
  const program = new Command('cofferdam')
    .description('Drain, reboot, fence, upgrade and remove Kubernetes nodes while the data on them stays safe.')
    .version(options.version, '--version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show help for a command')
    .option('--kubeconfig <file>', 'the kubeconfig to use')
    .option('--context <name>', 'the context of the kubeconfig to use')
    .option('-n, --namespace <name>', 'the namespace to use')
    .option('--as <user>', 'impersonate this user, as kubectl does')
    .option('--as-group <group>', 'impersonate this group too; can be repeated', collect)
    .option(
      '--request-timeout <duration>',
      'how long one request to the server may take; 0 for no limit',
      parseRequestTimeout,
    )
    .addOption(
      new Option('-o, --output <format>', 'how to print results')
        .choices(['text', 'wide', 'json', 'yaml'])
        .default('text'),
    )
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => terminal.print(hinting(text.trimEnd())),
      writeErr: (text) => terminal.note(text.trimEnd()),
      outputError: (text, write) => write(text.replace(/^error:/, terminal.paint('red', 'error:'))),
    })
    .showHelpAfterError('Run it with --help to see what it takes.')
    .exitOverride()
    .addHelpText('after', () =>
      renderExamples(
        options.commands.flatMap((entry) => examplesOf(entry).slice(0, 1)),
        terminal.paint,
      ),
    )

  for (const entry of options.commands) {
    if (!('commands' in entry)) {
      addCommand(program, entry)
      continue
    }
    const group = describe(program, entry).helpCommand(false)
    for (const command of entry.commands) addCommand(group, command)
    group.addHelpText('after', () => renderExamples(examplesOf(entry), terminal.paint))
  }
  return program

  function addCommand(parent: Command, command: CliCommand): void {
    const sub = describe(parent, command)
    command.configure?.(sub)
    const parse = sub.parseOptions.bind(sub)
    sub.parseOptions = (argv) => parse(fromKubectlSpelling(sub.options, argv))
    sub.addHelpText('after', () => renderExamples(command.examples, terminal.paint))
    sub.action(async () => {
      const flags = sub.optsWithGlobals<GlobalFlags>()
      const rendered = (result: unknown) =>
        renderResult(command, result, { format: flags.output, paint: terminal.paint, hinting })
      const redraw = (result: unknown) => terminal.redraw(rendered(result))
      const result = await command.run({ args: sub.args, flags, terminal, redraw, signal })
      if (result === undefined) return
      terminal.print(rendered(result))
      end(command.exitCode?.(result) ?? exitCodes.done)
    })
  }
}

function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value]
}

function describe(parent: Command, { name, summary, description }: CliCommand | CommandGroup): Command {
  return parent
    .command(name)
    .summary(summary)
    .description(description ?? summary)
}

function examplesOf(entry: CliCommand | CommandGroup): readonly Example[] {
  return 'commands' in entry ? entry.commands.flatMap(({ examples }) => examples) : entry.examples
}

function renderResult(
  command: CliCommand,
  result: unknown,
  {
    format,
    paint,
    hinting,
  }: { readonly format: OutputFormat; readonly paint: Paint; readonly hinting: (text: string) => string },
): string {
  const data = command.data === undefined ? result : command.data(result)
  if (format === 'json' || format === 'yaml') return renderData(data, format)
  // What comes from the cluster was written by anybody; here every text of it passes before it becomes lines.
  return hinting(command.render(harmlessData(result), paint, format === 'wide'))
}

function renderExamples(examples: readonly Example[], paint: Paint): string {
  if (examples.length === 0) return ''
  const blocks = examples.map(({ line, says }) => `  ${paint('dim', `# ${says}`)}\n  ${line}`)
  return `\nExamples:\n${blocks.join('\n\n')}`
}
