import { spawn } from 'node:child_process'

export interface Printed {
  /** Both streams, in the order in which they were written. */
  readonly text: string
  readonly exitCode: number
}

/** A shell as a reader has it open: what one command exports or assigns is there for the next. */
export interface Shell {
  run(command: string, options: { readonly withinSeconds: number }): Promise<Printed>
  close(): void
}

export function openShell(cwd: string, environment: NodeJS.ProcessEnv): Shell {
  // A group of its own, so that whatever a command has left running ends with the shell.
  const bash = spawn('bash', ['--noprofile', '--norc'], { cwd, env: environment, stdio: 'pipe', detached: true })
  let text = ''
  let heard = () => {}
  bash.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    heard()
  })
  bash.stdin.write('exec 2>&1\n')
  let count = 0
  return {
    async run(command, { withinSeconds }) {
      count += 1
      const mark = `--- end of command ${count}: `
      text = ''
      const ended = new Promise<Printed>((resolve, reject) => {
        const timer = setTimeout(() => {
          reject(new Error(`it was still running after ${withinSeconds} s, and had printed:\n${text}`))
        }, withinSeconds * 1_000)
        heard = () => {
          const end = new RegExp(`(?:^|\\n)?${mark}(\\d+)\\n`).exec(text)
          if (end === null) return
          clearTimeout(timer)
          resolve({ text: text.slice(0, end.index), exitCode: Number(end[1]) })
        }
      })
      // Braces, not parentheses: the shell itself runs it, and keeps what it assigns.
      bash.stdin.write(`{ ${command}\n} </dev/null; printf '\\n${mark}%s\\n' "$?"\n`)
      return ended
    },
    close() {
      if (bash.pid !== undefined && bash.exitCode === null) process.kill(-bash.pid, 'SIGTERM')
    },
  }
}
