import { ApiError } from '@cofferdam/kubernetes/api/api-error.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { describe, expect, it } from 'vitest'
import type { CliCommand, CommandGroup } from './command.ts'
import { runProgram } from './program.ts'
import { createTerminal } from './terminal.ts'

interface CountResult {
  readonly count: number
}

const countCommand: CliCommand<{ readonly upTo: string }, CountResult> = {
  name: 'count',
  summary: 'Count.',
  examples: [{ line: 'cofferdam count --up-to 3', says: 'count to three' }],
  configure: (command) => command.requiredOption('--up-to <n>', 'where to stop'),
  run: async ({ flags }) => ({ count: Number(flags.upTo) }),
  render: ({ count }, paint) => paint('green', `${count} counted`),
  exitCode: ({ count }) => (count === 13 ? 3 : 0),
}

const quietCommand: CliCommand<object, undefined> = {
  name: 'quiet',
  summary: 'Says nothing.',
  examples: [],
  run: async () => undefined,
  render: () => 'never printed',
}

const secretiveCommand: CliCommand<object, { readonly told: number; readonly kept: number }> = {
  name: 'secretive',
  summary: 'Tells programs less than people.',
  examples: [{ line: 'cofferdam some secretive', says: 'keep something' }],
  run: async () => ({ told: 1, kept: 2 }),
  render: ({ told, kept }) => `${told} ${kept}`,
  data: ({ told }) => ({ told }),
}

const someGroup: CommandGroup = {
  name: 'some',
  summary: 'Has commands.',
  commands: [countCommand as CliCommand, secretiveCommand as CliCommand],
}

function failing(error: unknown): CliCommand {
  return {
    name: 'fail',
    summary: 'Fails.',
    examples: [],
    run: () => Promise.reject(error),
    render: () => '',
  }
}

async function run(
  argv: string[],
  {
    commands = [countCommand, quietCommand] as (CliCommand | CommandGroup)[],
    debug = false,
    calledAs = 'cofferdam',
  } = {},
) {
  const written = { out: '', err: '' }
  const terminal = createTerminal({
    stdout: { write: (text) => (written.out += text) },
    stderr: { write: (text) => (written.err += text) },
    environment: {},
  })
  const signal = new AbortController().signal
  const code = await runProgram({ argv, commands, version: '9.8.7', calledAs, terminal, signal, debug })
  return { code, ...written }
}

describe('results', () => {
  const cases: Record<string, { given: string[]; then: Awaited<ReturnType<typeof run>> }> = {
    'are text for people': { given: ['count', '--up-to', '3'], then: { code: 0, out: '3 counted\n', err: '' } },
    'are JSON for programs': {
      given: ['count', '--up-to', '3', '-o', 'json'],
      then: { code: 0, out: '{\n  "count": 3\n}\n', err: '' },
    },
    'are YAML, and global flags may come first': {
      given: ['-o', 'yaml', 'count', '--up-to', '3'],
      then: { code: 0, out: 'count: 3\n', err: '' },
    },
    'are text without -o wide where nothing more is there': {
      given: ['count', '--up-to', '3', '-o', 'wide'],
      then: { code: 0, out: '3 counted\n', err: '' },
    },
    'decide the exit code': { given: ['count', '--up-to', '13'], then: { code: 3, out: '13 counted\n', err: '' } },
    'that are undefined print nothing': { given: ['quiet'], then: { code: 0, out: '', err: '' } },
    'the version is an answer': { given: ['--version'], then: { code: 0, out: '9.8.7\n', err: '' } },
  }
  it.each(Object.entries(cases))('%s', async (_name, { given, then }) => {
    expect(await run(given)).toEqual(then)
  })

  it('help is an answer, with examples and the flags of all commands', async () => {
    const { code, out, err } = await run(['count', '--help'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain('--up-to <n>')
    expect(out).toContain('--kubeconfig <file>')
    expect(out).toContain('Examples:\n  # count to three\n  cofferdam count --up-to 3')
  })

  it('the help of the whole shows an example of each command', async () => {
    expect((await run(['--help'])).out).toContain('cofferdam count --up-to 3')
  })
})

describe('wrong usage ends with 2, says why and suggests', () => {
  const cases: Record<string, { given: string[]; says: string }> = {
    'an unknown command': { given: ['conut'], says: "error: unknown command 'conut'\n(Did you mean count?)" },
    'an unknown flag': {
      given: ['count', '--up-to', '3', '--upto'],
      says: "error: unknown option '--upto'\n(Did you mean --up-to?)",
    },
    'an unknown output format': { given: ['quiet', '-o', 'xml'], says: 'Allowed choices are text, wide, json, yaml.' },
    'a timeout of requests that is none': {
      given: ['quiet', '--request-timeout', 'soon'],
      says: 'it is a duration such as 2h, 90m or 1h30m.',
    },
    'a missing flag': { given: ['count'], says: "required option '--up-to <n>' not specified" },
    'an argument too many': { given: ['quiet', 'please'], says: 'too many arguments' },
    'no command at all': { given: [], says: 'Usage: cofferdam' },
  }
  it.each(Object.entries(cases))('%s', async (_name, { given, says }) => {
    const { code, out, err } = await run(given)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(says)
  })
})

describe('failures say what happened and what to do, without a stack trace', () => {
  const cases: Record<string, { given: unknown; then: { code: number; err: string } }> = {
    'a failure of ours': {
      given: new CofferdamError('PORT_IN_USE', 'port 7400 is taken', { hint: 'choose another with --port' }),
      then: { code: 1, err: 'error: port 7400 is taken\nhint: choose another with --port\n' },
    },
    'a wrong usage found late': {
      given: new CofferdamError('USAGE', 'no such scenario'),
      then: { code: 2, err: 'error: no such scenario\n' },
    },
    'a refusal of the API': {
      given: new ApiError('NotFound', 'nodes "x" not found'),
      then: { code: 1, err: 'error: the Kubernetes API refused: nodes "x" not found (NotFound)\n' },
    },
    'a defect': {
      given: new TypeError('x is undefined'),
      then: {
        code: 1,
        err: 'error: x is undefined\nhint: this is unexpected; run it again with COFFERDAM_DEBUG=1 to see where it comes from, and report it\n',
      },
    },
    'something thrown that is no error': {
      given: 'boom',
      then: {
        code: 1,
        err: 'error: boom\nhint: this is unexpected; run it again with COFFERDAM_DEBUG=1 to see where it comes from, and report it\n',
      },
    },
  }
  it.each(Object.entries(cases))('%s', async (_name, { given, then }) => {
    const { code, err } = await run(['fail'], { commands: [failing(given)] })
    expect({ code, err }).toEqual(then)
  })

  it('those who debug see the stack and its cause', async () => {
    const error = new CofferdamError('FILE_UNREADABLE', 'cannot read it', { cause: new Error('EACCES') })
    const { err } = await run(['fail'], { commands: [failing(error)], debug: true })
    expect(err).toContain('program.test.ts')
    expect(err).toContain('caused by: Error: EACCES')
  })
})

describe('commands under one word', () => {
  const grouped = (...argv: string[]) => run(argv, { commands: [someGroup] })

  it('run with their own flags and those of all commands', async () => {
    expect(await grouped('some', 'count', '--up-to', '13', '-o', 'json')).toEqual({
      code: 3,
      out: '{\n  "count": 13\n}\n',
      err: '',
    })
  })

  it('may tell people more than programs', async () => {
    expect((await grouped('some', 'secretive')).out).toBe('1 2\n')
    expect((await grouped('some', 'secretive', '-o', 'yaml')).out).toBe('told: 1\n')
  })

  it('are listed, with their examples, by the word alone, which is no use of it', async () => {
    const { code, out, err } = await grouped('some')
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/count \[options\] +Count\./)
    expect(err).toContain('cofferdam some secretive')
    expect((await grouped('some', '--help')).code).toBe(0)
  })

  it('a word that is none of them ends with 2', async () => {
    const { code, out, err } = await grouped('some', 'coumt')
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain("unknown command 'coumt'")
  })
})

describe('hints print a command that works from where the user is', () => {
  const hint = new CofferdamError('USAGE', 'too vague', { hint: 'cofferdam count --up-to 3' })
  const wordy: CliCommand = {
    name: 'count',
    summary: 'Counts.',
    examples: [{ line: 'cofferdam count', says: 'count' }],
    run: async () => ({ next: 'cofferdam count again' }),
    render: (result) => (result as { readonly next: string }).next,
  }
  const called = (argv: string[], commands: CliCommand[]) => run(argv, { commands, calledAs: 'kubectl cofferdam' })

  it('in results for people and in help, and not in data: scripts compare it', async () => {
    expect((await called(['count'], [wordy])).out).toBe('kubectl cofferdam count again\n')
    expect((await called(['count', '--help'], [wordy])).out).toContain('  kubectl cofferdam count')
    expect((await called(['count', '-o', 'json'], [wordy])).out).toContain('"cofferdam count again"')
  })

  it('in the hint of an error', async () => {
    const { err } = await called(['fail'], [failing(hint), wordy])
    expect(err).toContain('hint: kubectl cofferdam count --up-to 3\n')
  })
})
