import { describe, expect, it } from 'vitest'
import { parseDocument, parseFiles } from './parse-document.ts'

const fence = '```'

describe('a document as a list of commands', () => {
  it('a block of text behind commands is what they print; prose between them changes nothing', () => {
    const document = `# Title

## First

${fence}sh
kubectl get nodes
kubectl get pods   # exit code 1: there are none
${fence}

It prints

${fence}text
NAME
${fence}

${fence}yaml
a: 1
${fence}

## Second

${fence}sh
# a remark is no command
true
${fence}
`
    expect(parseDocument(document)).toEqual([
      {
        section: 'First',
        commands: [
          { section: 'First', line: 6, text: 'kubectl get nodes', exitCode: 0 },
          { section: 'First', line: 7, text: 'kubectl get pods   # exit code 1: there are none', exitCode: 1 },
        ],
        promised: 'NAME',
      },
      { section: 'Second', commands: [{ section: 'Second', line: 24, text: 'true', exitCode: 0 }] },
    ])
  })

  const whole: Record<string, string> = {
    'a loop is one command, or its first line would run alone and fail': 'for a in b c; do\n  echo $a |\n    cat\ndone',
    'a line that ends with a backslash goes on': 'kubectl get nodes \\\n  -o wide',
    'a pipe at the end of a line goes on': 'kubectl get nodes |\n  head -1',
  }
  it.each(Object.entries(whole))('%s', (_name, text) => {
    const [block] = parseDocument(`${fence}sh\n${text}\necho next\n${fence}\n`)
    expect(block?.commands.map((command) => command.text)).toEqual([text, 'echo next'])
    expect(block?.commands[1]?.line).toBe(2 + text.split('\n').length)
  })

  const wrong: Record<string, { document: string; says: string }> = {
    'output without a command is refused, since nothing could be compared with it': {
      document: `## A\n${fence}text\nhello\n${fence}\n`,
      says: 'line 3: a text block promises what the commands before it print, and there are none',
    },
    'output twice for the same commands is refused, since the second would be compared with nothing': {
      document: `## A\n${fence}sh\ntrue\n${fence}\n${fence}text\n${fence}\n${fence}text\nb\n${fence}\n`,
      says: 'line 8: a text block promises what the commands before it print, and there are none',
    },
    'a block without an end is refused, since the rest of the document would be commands': {
      document: `${fence}sh\ntrue\n`,
      says: 'line 2: the block has no end',
    },
    'a loop without an end is refused, since it would never run': {
      document: `${fence}sh\nfor a in b; do\n${fence}\n`,
      says: 'line 2: the last command of the block has no end',
    },
  }
  it.each(Object.entries(wrong))('%s', (_name, { document, says }) => {
    expect(() => parseDocument(document)).toThrow(says)
  })
})

it('a block of YAML whose first line names a path is a file, and any other is not', () => {
  const markdown = ['## Files', '```yaml', '# a/b.yaml', 'kind: X', '```', '```yaml', 'kind: Y', '```'].join('\n')
  expect(parseFiles(markdown)).toEqual([{ section: 'Files', path: 'a/b.yaml', text: '# a/b.yaml\nkind: X' }])
})
